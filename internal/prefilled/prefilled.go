// Package prefilled gives tests copies of a folder that is filled once a test process: a database that has its tables already,
// or all that a daemon left.
package prefilled

import (
	"io/fs"
	"os"
	"sync"
	"testing"
	"testing/fstest"
)

// Folder is what tests begin with copies of.
type Folder struct {
	Fill func(t testing.TB, dir string) // leaves no file open

	once  sync.Once
	files fstest.MapFS
}

// CopyTo adds the files, as Fill left them, to a folder that has none of their names.
func (f *Folder) CopyTo(t testing.TB, dir string) {
	t.Helper()
	f.once.Do(func() {
		filled := t.TempDir()
		f.Fill(t, filled)
		files, err := read(os.DirFS(filled))
		if err != nil {
			t.Fatal(err)
		}
		f.files = files
	})
	if f.files == nil {
		t.Fatal("the folder was not filled, see the test that began to")
	}
	if err := os.CopyFS(dir, f.files); err != nil {
		t.Fatal(err)
	}
}

func read(dir fs.FS) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	return files, fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			files[path] = &fstest.MapFile{Mode: info.Mode()}
			return err
		}
		text, err := fs.ReadFile(dir, path)
		files[path] = &fstest.MapFile{Data: text, Mode: info.Mode()}
		return err
	})
}
