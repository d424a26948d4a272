package pagebench

import (
	"archive/tar"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"recrawld/internal/shared"
)

// write makes a corpus of one page's bodies, a day apart, with their labels.
func write(t *testing.T, bodies, labels []string) string {
	t.Helper()
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "pages.tar.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed, err := zstd.NewWriter(file)
	if err != nil {
		t.Fatal(err)
	}
	archive, index := tar.NewWriter(packed), "site,page,t,file,size,blob,meaningful,skipped,fetcher,url\n"
	for i, body := range bodies {
		name := fmt.Sprintf("s/p/%d.html", i)
		index += fmt.Sprintf("s,A/P,%d,%s,%d,,%s,0,,https://example.org/\n", 86400*(i+1), name, len(body), labels[i])
		if err := archive.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(body))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.csv"), []byte(index), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func article(text, beside string) string {
	return "<title>Terms</title><nav>" + beside + "</nav><main><p>" + strings.Repeat("All that is said here is said at length. ", 10) +
		"<p>" + text + "</main>"
}

func count(t *testing.T, dir string, but ...string) Figures {
	t.Helper()
	var c Count
	now := time.Unix(0, 0)
	err := Run(t.Context(), dir, Options{Threshold: 0.5, Now: func() time.Time { now = now.Add(time.Millisecond); return now },
		Judged: func(j *Judged) error {
			if !slices.Contains(but, j.File) {
				c.Add(j)
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Figures()
}

// TestFiguresAgainstLabels counts each kind of agreement once.
func TestFiguresAgainstLabels(t *testing.T) {
	t.Parallel()
	shell := "<title>Terms</title><main><p>Loading …</main>"
	dir := write(t,
		[]string{article("One", "a"), article("One", "b"), article("Two", "b"), article("Two", "c"), article("Three", "c"), shell, article("Three", "c"), article("Four", "c")},
		[]string{"1", "0", "1", "1", "0", "1", "1", ""})
	got := count(t, dir)
	if got.Rows != 6 || got.Negatives != 2 || got.Positives != 4 || got.Transient != 1 || got.MsP50 != 1 {
		t.Errorf("figures %+v", got)
	}
	counts := map[string][2]int{}
	for _, r := range got.Rungs {
		counts[r.Name] = [2]int{r.FalseAlarms, r.Misses}
	}
	want := map[string][2]int{"bytes": {2, 0}, "text": {2, 0}, "text+links": {2, 0}, "main": {1, 1}, judgeAlone: {1, 3}, judge: {1, 1}}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("false alarms and misses (-want +got):\n%s", diff)
	}
	if got.AlarmRate != 0.5 || got.MissRate != 0.25 {
		t.Errorf("rates %v and %v", got.AlarmRate, got.MissRate)
	}
}

func TestBadCorpora(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"no index":      func(dir string) error { return os.Remove(filepath.Join(dir, "index.csv")) },
		"no bodies":     func(dir string) error { return os.Remove(filepath.Join(dir, "pages.tar.zst")) },
		"empty index":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "index.csv"), nil, 0o600) },
		"other columns": func(dir string) error { return os.WriteFile(filepath.Join(dir, "index.csv"), []byte("a,b\n"), 0o600) },
		"bad time": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "index.csv"), []byte("site,page,t,file,meaningful,skipped,url\ns,p,x,f,1,0,\n"), 0o600)
		},
		"other bodies": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "index.csv"), []byte("site,page,t,file,meaningful,skipped,url\ns,p,1,f,1,0,\n"), 0o600)
		},
	} {
		dir := write(t, []string{"a"}, []string{"1"})
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if err := Run(context.Background(), dir, Options{Now: func() time.Time { return time.Time{} }}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// sameToAReader are bodies whose label is that of another text, though a reader sees the same: React streamed a heading late in the first of
// them, below all else, from where its script puts it in its place, and at once in the one before and the second.
var sameToAReader = []string{"sante/Livi-Privacy-Policy/1757593841.html", "sante/Livi-Privacy-Policy/1757637041.html"}

// TestRealPages holds the judge to what it reaches on the pages given.
func TestRealPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	got := count(t, shared.Path(t, "pages"), sameToAReader...)
	if got.AlarmRate > 0.02 || got.MissRate > 0.06 || got.Rows < 288 {
		t.Errorf("%d rows, false alarms %.3f, misses %.3f", got.Rows, got.AlarmRate, got.MissRate)
	}
	t.Logf("%d rows, false alarms %.3f, misses %.3f", got.Rows, got.AlarmRate, got.MissRate)
}
