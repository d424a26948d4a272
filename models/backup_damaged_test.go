package models

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRestoreRefusesADatabaseWithRows(t *testing.T) {
	t.Parallel()
	source := openBackup(t, liteFile(t))
	fillBackup(t, source, 10)
	raw, _ := takeBackup(t, source)
	before, err := source.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Restore(t.Context(), bytes.NewReader(raw), backupNow); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("Restore over rows: error = %v, want ErrNotEmpty", err)
	}
	after, err := source.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("a refused restore changed the database:\n%s", d)
	}
}

func TestADamagedBackupRestoresNothing(t *testing.T) {
	t.Parallel()
	source := openBackup(t, liteFile(t))
	fillBackup(t, source, 300)
	good, _ := takeBackup(t, source)
	plain := unzip(t, good)
	damaged := map[string][]byte{
		"empty": nil, "no gzip": []byte("hello"), "other text": zipped(t, []byte("hello\n")),
		"no trailer": zipped(t, plain[:bytes.LastIndex(plain[:len(plain)-1], []byte("\n"))+1]),
		"more":       zipped(t, append(bytes.Clone(plain), 'x')),
		"other sum":  zipped(t, bytes.Replace(plain, []byte(`"sha256":"`), []byte(`"sha256":"0`), 1)),
		"schema":     zipped(t, bytes.Replace(plain, []byte(`"schema":`), []byte(`"schema":9`), 1)),
		"table":      zipped(t, bytes.Replace(plain, []byte(`"name":"pages"`), []byte(`"name":"pagez"`), 1)),
		"column":     zipped(t, bytes.Replace(plain, []byte(`"fr_max"`), []byte(`"fr_nax"`), 1)),
	}
	for i := range 20 {
		cut := len(good) * i / 20
		damaged[fmt.Sprint("cut at ", cut)] = good[:cut]
		flipped := bytes.Clone(plain)
		at := len(plain)/3 + i*97
		flipped[at] ^= 1 << (i % 8)
		damaged[fmt.Sprint("flipped at ", at)] = zipped(t, flipped)
	}
	target := openBackup(t, liteFile(t))
	for name, raw := range damaged {
		if _, err := target.Restore(t.Context(), bytes.NewReader(raw), backupNow); err == nil || errors.Is(err, ErrNotEmpty) {
			t.Fatalf("%s: Restore: error = %v, want it refused and nothing written", name, err)
		}
	}
	if _, err := target.Restore(t.Context(), bytes.NewReader(good), backupNow); err != nil {
		t.Errorf("Restore of the good backup after %d damaged ones: %v", len(damaged), err)
	}
}

func FuzzBackupRead(f *testing.F) {
	var out bytes.Buffer
	w := newBackupWriter(&out)
	w.null()
	w.int(-5)
	w.text("text")
	err := errors.Join(w.begin(BackupHead{Schema: 1, Tables: []BackupTable{{Name: "t", Columns: []string{"a", "b", "c"}}}}), w.endRow())
	if _, err2 := w.endTable(); errors.Join(err, err2, w.end(map[string]int64{"t": 1})) != nil {
		f.Fatal(err, err2)
	}
	zr, err := gzip.NewReader(&out)
	if err != nil {
		f.Fatal(err)
	}
	plain, err := io.ReadAll(zr)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain)
	f.Add([]byte(backupMagic + "{}\n\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		src, head, err := newBackupReader(bytes.NewReader(zipped(t, raw)))
		if err != nil {
			if !errors.Is(err, ErrBadBackup) {
				t.Errorf("newBackupReader: %v", err)
			}
			return
		}
		rows := map[string]int64{}
		for _, table := range head.Tables {
			n := len(table.Columns)
			if n == 0 || n > 100 {
				return
			}
			r := &backupRows{src: src, kinds: make([]kind, n), values: make([]any, n)}
			for i := range r.kinds {
				r.kinds[i] = kindInt
			}
			for r.Next() {
				rows[table.Name]++
			}
			if r.err != nil {
				return
			}
		}
		if err := src.end(rows); err == nil && !strings.Contains(string(raw), `"sha256"`) {
			t.Error("a backup without a checksum was taken")
		}
	})
}
