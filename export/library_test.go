package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	gowarc "github.com/nlnwa/gowarc/v2"

	"recrawld/archive"
	"recrawld/models"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 250e6, time.UTC)

// library is an archive with versions that share bodies, in many segments.
type library struct {
	dir      string
	reader   *archive.Reader
	versions []Version
	sent     []time.Time // when the request of each was sent
}

// library's versions: the first body again at another URL, and later again at the first; two pages with nothing in common.
func newLibrary(t *testing.T) *library {
	return newLibraryOf(t, archive.Options{MaxAge: time.Hour})
}

func newLibraryOf(t *testing.T, o archive.Options) *library {
	t.Helper()
	l := &library{dir: t.TempDir()}
	now := noon
	o.Worker, o.Now = "w0", func() time.Time { return now }
	a, err := archive.Open(l.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	firsts := make(map[models.Digest]models.Content)
	for i, v := range []struct{ url, body string }{
		{"https://example.org/a", "<title>One</title>"},
		{"https://example.org/b?y=2&x=1", "<title>One</title>"},
		{"https://example.org/a", "<title>Two</title>"},
		{"https://example.org/a", "<title>One</title>"},
		{"http://www.example.org:8080/c/", "three"},
	} {
		now = noon.Add(time.Duration(i) * 30 * time.Hour)
		c := models.Capture{URL: v.url, Outcome: models.Outcome{At: now, Status: 200, Proto: "HTTP/1.1", RemoteIP: "127.0.0.1",
			Header:  fmt.Appendf(nil, "Content-Type: text/html; charset=utf-8\r\nX-Answer: %d\r\n", i),
			Request: []byte("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"), Body: []byte(v.body)}}
		digest := models.DigestOf([]byte(v.body))
		if first, seen := firsts[digest]; seen {
			c.Seen = &first
		}
		record, err := a.Append(c)
		if err != nil {
			t.Fatal(err)
		}
		if c.Seen == nil {
			firsts[digest] = models.Content{Digest: digest, Record: record, URL: v.url, At: models.At(now)}
		}
		// A visit ends a while after its request, and segments are begun in between.
		l.versions = append(l.versions, Version{URL: v.url, At: models.At(now.Add(1500 * time.Millisecond)), Digest: digest, Record: record})
		l.sent = append(l.sent, now)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if l.reader, err = archive.OpenReader(l.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.reader.Close() })
	return l
}

// export exports the versions with these numbers.
func (l *library) export(t *testing.T, format Format, numbers ...int) (out []byte, sum Summary, losses []Loss) {
	t.Helper()
	x := New(Options{Format: format, Archive: l.reader, Temp: l.dir, Software: "recrawld test", About: "all\r\npages", Now: noon,
		Title: func(_, _ string, body []byte) string { return "title of " + string(body) },
		Step:  func(string, int64) {}, Lost: func(loss Loss) { losses = append(losses, loss) }})
	defer x.Close()
	for _, n := range numbers {
		if err := x.Add(l.versions[n]); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	sum, err := x.Write(t.Context(), &b)
	if err != nil {
		t.Fatal(err)
	}
	if int(sum.Bytes) != b.Len() || sum.Versions+sum.Lost != int64(len(numbers)) {
		t.Errorf("%s of %v: %+v of %d bytes", format, numbers, sum, b.Len())
	}
	return b.Bytes(), sum, losses
}

// damage turns a byte around in the middle of a record.
func (l *library) damage(t *testing.T, at models.Record) {
	t.Helper()
	path := filepath.Join(l.dir, at.File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[at.Offset+at.Length/2] ^= 0xff
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// revisits are the revisit records of the archive by when they were sent.
func (l *library) revisits(t *testing.T) map[time.Time]archive.Revisit {
	t.Helper()
	segments, err := l.reader.Segments()
	if err != nil || len(segments) != len(l.versions) {
		t.Fatalf("%d segments (%v), want one a version", len(segments), err)
	}
	all := make(map[time.Time]archive.Revisit)
	for _, s := range segments {
		if err := l.reader.Revisits(s.Name, func(r archive.Revisit) bool { all[r.At] = r; return true }); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// record is a record as gowarc reads it.
type record struct {
	kind, url, date, id  string
	refersURL, refersAt  string
	info, concurrent, ip string
	digest               string
	offset, length       int64
	head, body           string
}

// readStrictly reads a WARC file with the web archives' own reader, at its strictest.
func readStrictly(t *testing.T, text []byte) []record {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.warc.gz")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := gowarc.NewWarcFileReader(path, 0, gowarc.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var records []record
	for {
		next, offset, validation, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || !validation.Valid() {
			t.Fatalf("record %d: %v, %v", len(records), err, validation)
		}
		h := next.WarcHeader()
		raw, err := next.Block().RawBytes()
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(raw)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := bytes.Cut(block, []byte("\r\n\r\n"))
		records = append(records, record{kind: h.Get("WARC-Type"), url: h.Get("WARC-Target-URI"), date: h.Get("WARC-Date"),
			id: h.Get("WARC-Record-ID"), refersURL: h.Get("WARC-Refers-To-Target-URI"), refersAt: h.Get("WARC-Refers-To-Date"),
			info: h.Get("WARC-Warcinfo-ID"), concurrent: h.Get("WARC-Concurrent-To"), ip: h.Get("WARC-IP-Address"),
			digest: h.Get("WARC-Payload-Digest"), offset: offset, head: string(head), body: string(body)})
		if n := len(records) - 1; n > 0 {
			records[n-1].length = offset - records[n-1].offset
		}
		if err := next.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(records) > 0 {
		last := &records[len(records)-1]
		last.length = int64(len(text)) - last.offset
	}
	return records
}
