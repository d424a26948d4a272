package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/models"
)

const isoMillis = "2006-01-02T15:04:05.000Z"

// subsets are all selections of the library's versions but the empty one.
func subsets(n int) (all [][]int) {
	for bits := 1; bits < 1<<n; bits++ {
		var s []int
		for i := range n {
			if bits&(1<<i) != 0 {
				s = append(s, i)
			}
		}
		all = append(all, s)
	}
	return all
}

// Whatever is selected, the file has each version once, with its own header and its body, and refers to nothing that is not in it.
func TestWARCStandsForItself(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]archive.Options{
		"a segment a version":                   {MaxAge: time.Hour},
		"segments begun while records are made": {MaxSegment: 1},
		"one segment":                           {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibraryOf(t, o)
			for _, numbers := range subsets(len(l.versions)) {
				out, sum, losses := l.export(t, WARC, numbers...)
				if len(losses) > 0 || sum.Lost > 0 {
					t.Fatalf("%v: lost %v", numbers, losses)
				}
				checkRecords(t, l, numbers, readStrictly(t, out))
			}
		})
	}
}

// checkRecords checks records against the versions that they should be, in any order.
func checkRecords(t *testing.T, l *library, numbers []int, records []record) {
	t.Helper()
	bodies := make(map[string]string) // of responses, by URL and date
	ids := make(map[string]string)    // kinds by ID
	seen := make(map[int]bool)
	for i, r := range records {
		if r.kind == "warcinfo" || r.kind == "request" {
			if r.kind == "request" && (ids[r.concurrent] != "response" && ids[r.concurrent] != "revisit" || records[i-1].id != r.concurrent) {
				t.Errorf("%v: request of %s, which is not before it", numbers, r.concurrent)
			}
			ids[r.id] = r.kind
			continue
		}
		n := slices.IndexFunc(numbers, func(n int) bool { return l.versions[n].URL == r.url && l.sent[n].Format(isoMillis) == r.date })
		if n < 0 || seen[numbers[n]] {
			t.Fatalf("%v: %s of %s at %s was not asked for, or twice", numbers, r.kind, r.url, r.date)
		}
		n = numbers[n]
		seen[n] = true
		body := r.body
		switch r.kind {
		case "response":
			bodies[r.url+r.date] = body
		case "revisit":
			var here bool
			if body, here = bodies[r.refersURL+r.refersAt]; !here {
				t.Errorf("%v: version %d refers to %s at %s, which is not before it", numbers, n, r.refersURL, r.refersAt)
			}
		}
		if models.DigestOf([]byte(body)) != l.versions[n].Digest || r.digest != "sha256:"+l.versions[n].Digest.String() {
			t.Errorf("%v: version %d has the body %q, digest %s", numbers, n, body, r.digest)
		}
		if !strings.Contains(r.head, fmt.Sprintf("X-Answer: %d", n)) || r.ip != "127.0.0.1" {
			t.Errorf("%v: version %d has the header %q of %s", numbers, n, r.head, r.ip)
		}
		if ids[r.id] != "" || ids[r.info] != "warcinfo" {
			t.Errorf("%v: version %d: record %s of warcinfo %s, which is not before it", numbers, n, r.id, r.info)
		}
		ids[r.id] = r.kind
		if i+1 == len(records) || records[i+1].kind != "request" {
			t.Errorf("%v: version %d has no request behind it", numbers, n)
		}
	}
	if len(seen) != len(numbers) {
		t.Errorf("%v: exported %v", numbers, seen)
	}
}

// indexLine is a line of an index as others read it.
type indexLine struct {
	key, at                   string
	URL, MIME, Status, Digest string
	LengthText                string `json:"length"`
	OffsetText                string `json:"offset"`
	Filename                  string
	record                    models.Record
}

func readLines(t *testing.T, text []byte) (lines []indexLine) {
	t.Helper()
	last := ""
	for line := range strings.Lines(string(text)) {
		if line <= last {
			t.Errorf("%q stands behind %q", line, last)
		}
		last = line
		fields := strings.SplitN(line, " ", 3)
		l := indexLine{key: fields[0], at: fields[1]}
		if err := json.Unmarshal([]byte(fields[2]), &l); err != nil {
			t.Fatal(err)
		}
		length, err := strconv.ParseInt(l.LengthText, 10, 64)
		offset, alsoErr := strconv.ParseInt(l.OffsetText, 10, 64)
		if err := errors.Join(err, alsoErr); err != nil {
			t.Fatal(err)
		}
		l.record = models.Record{File: l.Filename, Offset: offset, Length: length}
		lines = append(lines, l)
	}
	return lines
}

// Each line of an index leads to a record of that page, or where its body's first record is not in the index to that one.
func TestIndexLeadsToRecords(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for _, numbers := range subsets(len(l.versions)) {
		out, _, _ := l.export(t, CDXJ, numbers...)
		lines := readLines(t, out)
		if len(lines) != len(numbers) {
			t.Errorf("%v: %d lines", numbers, len(lines))
		}
		for _, line := range lines {
			n := slices.IndexFunc(numbers, func(n int) bool { return l.versions[n].URL == line.URL && l.sent[n].Format(timestamp) == line.at })
			if n < 0 || line.key != SURT(line.URL) || line.Status != "200" || line.Digest != "sha256:"+l.versions[numbers[n]].Digest.String() {
				t.Fatalf("%v: line %+v", numbers, line)
			}
			n = numbers[n]
			session := l.reader.NewSession()
			stored, err := session.Answer(line.record)
			if err := errors.Join(err, session.Close()); err != nil {
				t.Fatalf("%v: %v", numbers, err)
			}
			first := slices.Contains(numbers, 0) // the body's own record is in the index
			revisit := n == 1 || n == 3
			switch {
			case revisit && first && (line.MIME != "warc/revisit" || stored.URL() != line.URL || !stored.At().Equal(l.sent[n])):
				t.Errorf("%v: version %d leads to %s of %s at %s", numbers, n, line.MIME, stored.URL(), stored.At())
			case (!revisit || !first) && (line.MIME != "text/html" || models.DigestOf(stored.Body()) != l.versions[n].Digest):
				t.Errorf("%v: version %d leads to %s, %q", numbers, n, line.MIME, stored.Body())
			}
		}
	}
}

// A package has the WARC file, an index that leads into it, lists of its pages, and the digests of all.
func TestPackage(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	all := []int{0, 1, 2, 3, 4}
	out, sum, _ := l.export(t, WACZ, all...)
	files := unzip(t, out)
	records := readStrictly(t, files["archive/data.warc.gz"])
	checkRecords(t, l, all, records)
	lines := readLines(t, unpackIndex(t, files))
	for _, line := range lines {
		i := slices.IndexFunc(records, func(r record) bool { return r.offset == line.record.Offset && r.length == line.record.Length })
		if i < 0 || records[i].url != line.URL || strings.NewReplacer("-", "", "T", "", ":", "", ".", "", "Z", "").Replace(records[i].date) != line.at ||
			line.key != packageKey(line.URL) || (records[i].kind == "revisit") != (line.MIME == revisitType) || line.Filename != "data.warc.gz" {
			t.Errorf("line %+v leads to record %d", line, i)
		}
	}
	if len(lines) != len(all) {
		t.Errorf("%d lines", len(lines))
	}
	pages := string(files["pages/pages.jsonl"])
	for _, want := range []string{
		`{"format": "json-pages-1.0", "id": "pages", "title": "All pages"}`,
		`"url":"http://www.example.org:8080/c/","ts":"2026-03-06T12:00:00.25Z","title":"title of three"}`,
		`"url":"https://example.org/a","ts":"2026-03-05T06:00:00.25Z","title":"title of \u003ctitle\u003eOne\u003c/title\u003e"}`,
		`"url":"https://example.org/b?y=2\u0026x=1","ts":"2026-03-02T18:00:00.25Z"`,
	} {
		if !strings.Contains(pages, want) {
			t.Errorf("pages.jsonl has no %s:\n%s", want, pages)
		}
	}
	if n := strings.Count(string(files["pages/extraPages.jsonl"]), `"url":"https://example.org/a"`); n != 2 || sum.Pages != 3 {
		t.Errorf("%d pages, and %d earlier versions of a", sum.Pages, n)
	}
	checkManifest(t, files)
}

func unzip(t *testing.T, text []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, f := range z.File {
		if f.Method != zip.Store {
			t.Errorf("%s is compressed once more", f.Name)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// unpackIndex reads the compressed index by its list of blocks.
func unpackIndex(t *testing.T, files map[string][]byte) (text []byte) {
	t.Helper()
	list := bufio.NewScanner(bytes.NewReader(files["indexes/index.idx"]))
	if list.Scan(); list.Text() != `!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}` {
		t.Errorf("index.idx begins with %s", list.Text())
	}
	for list.Scan() {
		first, rest, _ := strings.Cut(list.Text(), " {")
		var block struct {
			Offset, Length int
			Digest         string
		}
		if err := json.Unmarshal([]byte("{"+rest), &block); err != nil {
			t.Fatal(err)
		}
		packed := files["indexes/index.cdx.gz"][block.Offset:][:block.Length]
		sum := sha256.Sum256(packed)
		zr, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(zr)
		if err != nil || !bytes.HasPrefix(plain, []byte(first+" {")) || block.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
			t.Errorf("block %s: %v, digest %s", first, err, block.Digest)
		}
		text = append(text, plain...)
	}
	return text
}

func checkManifest(t *testing.T, files map[string][]byte) {
	t.Helper()
	var manifest struct {
		Profile, Title string
		Version        string `json:"wacz_version"`
		Resources      []struct {
			Path, Hash string
			Bytes      int
		}
	}
	if err := json.Unmarshal(files["datapackage.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Profile != "data-package" || manifest.Version != "1.1.1" || len(manifest.Resources) != len(files)-2 {
		t.Errorf("manifest %+v of %d files", manifest, len(files))
	}
	for _, r := range manifest.Resources {
		if sum := sha256.Sum256(files[r.Path]); r.Hash != "sha256:"+hex.EncodeToString(sum[:]) || r.Bytes != len(files[r.Path]) {
			t.Errorf("%+v is not %s", r, r.Path)
		}
	}
	if sum := sha256.Sum256(files["datapackage.json"]); !bytes.Contains(files["datapackage-digest.json"], []byte(hex.EncodeToString(sum[:]))) {
		t.Errorf("digest %s", files["datapackage-digest.json"])
	}
}

// A package names no main page that it does not have.
func TestMainPageIsInThePackage(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for url, want := range map[string]string{"https://example.org/a": "https://example.org/a", "https://example.org/": ""} {
		x := New(Options{Format: WACZ, Archive: l.reader, Temp: l.dir, Software: "recrawld test", MainURL: url, Now: noon,
			Title: func(string, string, []byte) string { return "" }, Step: func(string, int64) {}, Lost: func(Loss) {}})
		defer x.Close()
		if err := x.Add(l.versions[0]); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := x.Write(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		var manifest struct{ MainPageURL string }
		if err := json.Unmarshal(unzip(t, out.Bytes())["datapackage.json"], &manifest); err != nil || manifest.MainPageURL != want {
			t.Errorf("the main page of what was selected by %s is %q (%v), want %q", url, manifest.MainPageURL, err, want)
		}
	}
}

// Whoever interrupts an export gets no answer that looks whole.
func TestWriteEnds(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	for _, format := range []Format{CDXJ, WARC, WACZ} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		x := New(Options{Format: format, Archive: l.reader, Temp: l.dir, Now: noon, Step: func(string, int64) {}, Lost: func(Loss) {}})
		if err := x.Add(l.versions[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Write(ctx, io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Write = %v, want %v", format, err, context.Canceled)
		}
		x.Close()
	}
}
