package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"
)

// crowd is a directory with very many files, of which nothing is but the names. It is its own entries.
type crowd struct {
	files, told, most int // most: names asked for at a time; 0: all
}

func (c *crowd) Open(name string) (fs.File, error) {
	if name != "." {
		return nil, fs.ErrNotExist
	}
	return c, nil
}

func (c *crowd) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		return nil, errors.New("all names at a time")
	}
	c.most = max(c.most, n)
	var entries []fs.DirEntry
	for ; len(entries) < n && c.told < c.files; c.told++ {
		entries = append(entries, member(c.told))
	}
	if len(entries) == 0 {
		return nil, io.EOF
	}
	return entries, nil
}

func (c *crowd) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
func (c *crowd) Read([]byte) (int, error)   { return 0, fs.ErrInvalid }
func (c *crowd) Close() error               { return nil }

// member is a file of a crowd.
type member int

func (m member) Name() string               { return fmt.Sprintf("%08d.html", int(m)) }
func (m member) IsDir() bool                { return false }
func (m member) Type() fs.FileMode          { return 0 }
func (m member) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// TestFault_118_AMillionNamesAreNotReadAtOnce: what is in memory of a directory is some of its names, however many it has.
func TestFault_118_AMillionNamesAreNotReadAtOnce(t *testing.T) {
	t.Parallel()
	c := &crowd{files: 1_000_000}
	if testing.Short() {
		c.files /= 100
	}
	n := 0
	err := eachFile(t.Context(), c, ".", func(string) error { n++; return nil })
	if err != nil || n != c.files || c.most > namesAtOnce {
		t.Errorf("%d of %d files are found, %d at a time: %v", n, c.files, c.most, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := eachFile(ctx, &crowd{files: c.files}, ".", func(string) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever ends it gets %v", err)
	}
}
