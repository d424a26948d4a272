package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/internal/leftover"
	"recrawld/models"
)

// exportedURLs are the URLs and times in an index of some versions of the filled data.
func exportedURLs(t *testing.T, dir string, args ...string) (lines []string) {
	t.Helper()
	answer, complaint, code := desk(t, dir, append([]string{"export", "--format", "cdxj"}, args...)...)
	if code != exitDone || complaint != "" {
		t.Fatalf("export %v: exit code %d, %s", args, code, complaint)
	}
	for line := range strings.Lines(answer) {
		fields := strings.SplitN(line, " ", 3)
		lines = append(lines, fields[0]+" "+fields[1][:8])
	}
	return lines
}

func TestExportSelects(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	const install = "org,example,docs)/install "
	tests := []struct {
		args string
		want []string
	}{
		{"https://docs.example.org/install", []string{install + "20261028", install + "20261104", install + "20261111", install + "20261118"}},
		{"docs.example.org/install --last", []string{install + "20261118"}},
		{"docs.example.org/install --last --to 2026-11-10", []string{install + "20261104"}},
		{"docs.example.org/ins --from 2026-11-04 --to 2026-11-11", []string{install + "20261104", install + "20261111"}},
		{"docs.example.org/install --from 2026-11-11T12:00:00Z", []string{install + "20261111", install + "20261118"}},
		{"docs.example.org/install --from 2026-11-11T12:00:01Z", []string{install + "20261118"}},
		{"--site blog", []string{"net,example,blog)/ 20261022"}},
		{"--to 2026-10", nil},
		{"docs.example.org/old --from 2026 --to 2026", []string{"org,example,docs)/old 20261101"}},
	}
	for _, test := range tests {
		got := exportedURLs(t, dir, strings.Fields(test.args)...)
		if test.want != nil && fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("export %s has %q, want %q", test.args, got, test.want)
		}
		for _, line := range got {
			if test.want == nil && !strings.Contains(line, " 202610") {
				t.Errorf("export %s has %s", test.args, line)
			}
		}
	}
}

// What pages need to be shown comes along with them, also where it is elsewhere, was chosen by another site, or is older than what is
// asked for; what others need does not.
func TestExportsHaveWhatTheirPagesNeed(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	fillMore(t, dir, addNeeds)
	const older, newer = " 20261112", " 20261119"
	const guide, style, cdn = "org,example,docs)/guide", "org,example,docs)/style/main.css", "net,example,cdn)/"
	needed := []string{cdn + "a.png" + older, cdn + "app.js" + older, cdn + "b.png" + older, cdn + "base.css" + older, cdn + "led.png" + older, cdn + "part.js" + older}
	tests := []struct {
		args string
		want []string
	}{
		{"docs.example.org/guide/", append(slices.Clone(needed), guide+older, guide+newer, style+older)},
		{"docs.example.org/guide/ --last", append(slices.Clone(needed), guide+newer, style+older)},
		{"docs.example.org/guide/ --alone", []string{guide + older, guide + newer}},
		{"--from 2026-11-19 --to 2026-11-19", append(slices.Clone(needed), guide+newer, style+older)},
		{"--from 2026-11-19 --to 2026-11-19 --alone", []string{guide + newer}},
	}
	for _, test := range tests {
		if got := exportedURLs(t, dir, strings.Fields(test.args)...); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("export %s has %q, want %q", test.args, got, test.want)
		}
	}
}

func TestExportWritesFiles(t *testing.T) {
	t.Parallel()
	dir, out := filledData(t), t.TempDir()
	for name, begins := range map[string]string{"x.cdxj": "net,example,blog)/ 2026", "x.warc.gz": "\x1f\x8b", "x.wacz": "PK\x03\x04"} {
		path := filepath.Join(out, name)
		answer, complaint, code := desk(t, dir, "export", "-o", path)
		text, err := os.ReadFile(path)
		if err != nil || code != exitDone || complaint != "" || !strings.HasPrefix(string(text), begins) {
			t.Errorf("%s: exit code %d, %s, %v: begins with %.20q", name, code, complaint, err, text)
		}
		if !strings.HasPrefix(answer, path+": 38 versions of 9 pages, ") {
			t.Errorf("%s: %s", name, answer)
		}
		_, complaint, code = desk(t, dir, "export", "-o", path)
		if code != exitUsage || !strings.Contains(complaint, "is there already: --force replaces it") {
			t.Errorf("%s again: exit code %d, %s", name, code, complaint)
		}
		answer, _, code = desk(t, dir, "export", "--site", "blog", "-o", path, "--force", "--json")
		var sum exported
		if err := json.Unmarshal([]byte(answer), &sum); err != nil || code != exitDone || sum.Versions != 1 || sum.Pages != 1 || sum.File != path {
			t.Errorf("%s by force: exit code %d, %v, %+v", name, code, err, sum)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != sum.Bytes || info.Size() >= int64(len(text)) {
			t.Errorf("%s by force: %v, %v bytes of %+v", name, err, info.Size(), sum)
		}
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 3 {
		t.Errorf("%v is left (%v), want the three files", left, err)
	}
}

// TestAnExportSaysItsOwnName: the first record of a WARC file names the file; what goes to standard output has a name that says what it is.
func TestAnExportSaysItsOwnName(t *testing.T) {
	t.Parallel()
	dir, path := filledData(t), filepath.Join(t.TempDir(), "docs-2026.warc.gz")
	if answer, complaint, code := desk(t, dir, "export", "-o", path); code != exitDone {
		t.Fatalf("exit code %d: %s%s", code, answer, complaint)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	piped, _, _ := desk(t, dir, "export", "--format", "warc")
	for want, packed := range map[string]string{"docs-2026.warc.gz": string(file), "export.warc.gz": piped} {
		text, err := gzip.NewReader(strings.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		text.Multistream(false)
		head, err := io.ReadAll(text)
		if err != nil || !strings.Contains(string(head), "WARC-Filename: "+want+"\r\n") {
			t.Errorf("%v; want it named %s:\n%s", err, want, head)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	tests := []struct {
		line string
		code int
		want string
	}{
		{"export", exitUsage, "--format cdxj, warc, wacz or folder, or a FILE that ends in"},
		{"export -o x.zip", exitUsage, "--format cdxj, warc, wacz or folder"},
		{"export -o nowhere/x.wacz", exitUsage, "x.wacz: stat "},
		{"export --format warc --site nobody", exitNotFound, "there is docs, blog"},
		{"export --format warc --from tomorrow", exitUsage, `"tomorrow" is no date: 2026, 2026-11`},
		{"export --format warc --from 2026-11 --to 2026-10", exitUsage, "--from 2026-11 is after --to 2026-10"},
		{"export -o x.warc", exitUsage, "records are compressed here: write -o x.warc.gz"},
		{"export --format warc --to 2020", exitNotFound, "no version to export of all pages to 2020: the first was found at 2026-"},
		{"export --format warc --from 2030", exitNotFound, "no version to export of all pages from 2030: the last was found at 2026-"},
		{"export --format warc https://docs.example.org/fresh", exitNotFound, "no version to export of https://docs.example.org/fresh"},
		{"export --format warc ftp://docs.example.org/", exitUsage, "scheme is not http or https"},
	}
	for _, test := range tests {
		answer, complaint, code := desk(t, dir, strings.Fields(test.line)...)
		if code != test.code || !strings.Contains(complaint, test.want) || answer != "" {
			t.Errorf("%s: exit code %d, %q, %q; want %d, %q", test.line, code, answer, complaint, test.code, test.want)
		}
	}
}

// What cannot be read is named and left out, and all else is exported.
func TestExportLeavesOutWhatIsLost(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	segments, err := filepath.Glob(filepath.Join(dir, "archive", "*.warc.gz"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("segments %v (%v), want one", segments, err)
	}
	reader, err := archive.OpenReader(filepath.Join(dir, "archive"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	text, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-20] ^= 0xff // in the last record, of the blog
	if err := os.WriteFile(segments[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.warc.gz")
	answer, complaint, code := desk(t, dir, "export", "-o", path)
	if code != exitFailed || !strings.Contains(answer, "37 versions") ||
		!strings.Contains(complaint, "left out: https://blog.example.net/ of 2026-10-22T12:00:00Z: read "+filepath.Base(segments[0])+" at ") ||
		!strings.Contains(complaint, "1 version cannot be read any more and had to be left out, as said above; all else was exported to "+path) {
		t.Errorf("exit code %d, %s, %s", code, answer, complaint)
	}
	if err := os.Remove(segments[0]); err != nil {
		t.Fatal(err)
	}
	_, complaint, code = desk(t, dir, "export", "--format", "cdxj")
	if code != exitFailed || !strings.Contains(complaint, "left out: 38 versions: segment "+filepath.Base(segments[0])+" is not in ") {
		t.Errorf("exit code %d, %s", code, complaint)
	}
}

// Half a file is none, and the file that was there stays.
func TestNewFileIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	broken := errors.New("broken")
	half := func(out io.Writer) error {
		_, err := out.Write(bytes.Repeat([]byte("x"), 3<<20))
		return errors.Join(err, broken)
	}
	if err := newFile(path, false, half); !errors.Is(err, broken) {
		t.Errorf("newFile = %v, want %v", err, broken)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := newFile(path, true, half); !errors.Is(err, broken) {
		t.Errorf("newFile = %v, want %v", err, broken)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("the file is %.10q (%v), want the old one", text, err)
	}
}

// A folder or a device is not replaced by a file.
func TestNewFileReplacesFilesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "null")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, link} {
		err := newFile(path, true, func(io.Writer) error { t.Errorf("%s: written", path); return nil })
		if exitCode(err) != exitUsage || !strings.Contains(err.Error(), path+" is there already and no regular file") {
			t.Errorf("newFile(%s) = %v", path, err)
		}
	}
}

// What is interrupted says so, whatever it was doing.
func TestExportInterrupted(t *testing.T) {
	t.Parallel()
	dir, path := filledData(t), filepath.Join(t.TempDir(), "x.wacz")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var complaint bytes.Buffer
	code := runContext(ctx, []string{"export", "--data", dir, "-o", path}, nil, io.Discard, &complaint)
	if want := "recrawld: interrupted: " + path + " is not written\n"; code != exitFailed || complaint.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, complaint.String(), want)
	}
}

// A segment that cannot be read is named, and does not end the export.
func TestExportPassesOverSegments(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	spoilt := filepath.Join(dir, "archive", "recrawld-w9-20261001000000-00001.warc.gz") // of a worker that may still write to it
	if err := os.Mkdir(spoilt, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.warc.gz")
	answer, complaint, code := desk(t, dir, "export", "-o", path)
	if code != exitFailed || !strings.Contains(answer, "38 versions of 9 pages") || !strings.Contains(complaint, "1 segment cannot be read, as said above") ||
		!strings.HasPrefix(complaint, "look through "+filepath.Base(spoilt)+": ") {
		t.Errorf("exit code %d, %s, %s", code, answer, complaint)
	}
}

// Pages that ask not to be archived are not shown to others, and counted.
func TestSelectionHeedsNoArchive(t *testing.T) {
	t.Parallel()
	s := &selection{site: 2}
	for _, test := range []struct {
		page models.Page
		want bool
	}{
		{models.Page{SiteID: 2, Version: 1}, true},
		{models.Page{SiteID: 2, Version: 1, NoArchive: true}, false},
		{models.Page{SiteID: 1, Version: 1, NoArchive: true}, false},
		{models.Page{SiteID: 2, NoArchive: true}, false},
	} {
		if got := s.has(&test.page); got != test.want {
			t.Errorf("has(%+v) = %t, want %t", test.page, got, test.want)
		}
	}
	if s.refused != 1 {
		t.Errorf("%d pages asked not to be archived, want 1", s.refused)
	}
}

func TestDatePeriod(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"2026":                      {"2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"2026-12":                   {"2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"2024-02-29":                {"2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
		"2026-11-23T10:00:00+02:00": {"2026-11-23T08:00:00Z", "2026-11-23T08:00:00Z"},
	} {
		from, to, err := datePeriod(text)
		if err != nil || from.Time().Format(time.RFC3339) != want[0] || to.Time().Format(time.RFC3339) != want[1] {
			t.Errorf("datePeriod(%s) = %s, %s, %v, want %v", text, from, to, err, want)
		}
	}
}

// TestNewFileSweepsWhatTheDeadLeft: what an export left that was killed is gone behind the next one to the same name; what another one writes just
// now is not, nor what has another name or is no file.
func TestNewFileSweepsWhatTheDeadLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.wacz")
	live, name, err := leftover.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	stays := []string{filepath.Base(name), "x.wacz", "x.wacz.1a.tmp", "y.wacz.1.tmp", "x.wacz.7.tmp", "x.wacz.tmp"}
	for _, name := range []string{"x.wacz.1.tmp", "x.wacz.123.tmp", "x.wacz.1a.tmp", "y.wacz.1.tmp", "x.wacz.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("y.wacz.1.tmp", filepath.Join(dir, "x.wacz.7.tmp")); err != nil {
		t.Fatal(err)
	}
	if err := newFile(path, false, func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	slices.Sort(stays)
	if !slices.Equal(got, stays) {
		t.Errorf("there is %q, want %q", got, stays)
	}
}
