package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gowarc "github.com/nlnwa/gowarc/v2"

	"recrawld/internal/shared"
	"recrawld/models"
)

// plainRecord is a record as the independent reader of these tests sees it: the standard library and nothing of ours.
type plainRecord struct {
	header textproto.MIMEHeader
	block  []byte
}

func readPlainly(t testing.TB, path string) []plainRecord {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var records []plainRecord
	src := bufio.NewReader(f)
	for {
		if _, err := src.Peek(1); err == io.EOF {
			return records
		}
		zr, err := gzip.NewReader(src)
		if err != nil {
			t.Fatalf("%s: member %d: %v", path, len(records), err)
		}
		zr.Multistream(false)
		text := textproto.NewReader(bufio.NewReader(zr))
		if line, err := text.ReadLine(); err != nil || line != "WARC/1.1" {
			t.Fatalf("%s: record %d begins with %q (%v)", path, len(records), line, err)
		}
		header, err := text.ReadMIMEHeader()
		if err != nil {
			t.Fatalf("%s: record %d: %v", path, len(records), err)
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			t.Fatalf("%s: record %d: %v", path, len(records), err)
		}
		rest, err := io.ReadAll(text.R)
		if err != nil || len(rest) != n+4 || string(rest[n:]) != "\r\n\r\n" {
			t.Fatalf("%s: record %d: block of %d bytes and end, want %d and 4 (%v)", path, len(records), len(rest), n, err)
		}
		records = append(records, plainRecord{header, rest[:n]})
	}
}

func urlsOf(t testing.TB, path string) []string {
	t.Helper()
	var urls []string
	for _, r := range readPlainly(t, path) {
		if r.header.Get("WARC-Type") == "response" {
			urls = append(urls, r.header.Get("WARC-Target-URI"))
		}
	}
	return urls
}

// writeSample writes a segment with two versions, one body seen before, and returns its path.
func writeSample(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	a := open(t, dir, testOptions())
	first := appendOne(t, a, capture("http://example.org/1", "<p>one</p>"))
	appendOne(t, a, capture("http://example.org/2?a=b%7C", strings.Repeat("two ", 5000)))
	seen := capture("http://example.org/3", "<p>one</p>")
	seen.Outcome.At = noon.Add(time.Hour)
	seen.Seen = &models.Content{Digest: seen.Outcome.Digest, Record: first, URL: "http://example.org/1",
		At: models.At(noon.Add(1234 * time.Millisecond))}
	appendOne(t, a, seen)
	if err := a.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return filepath.Join(dir, first.File)
}

func TestSegmentsHaveTheShapeOfTheStandard(t *testing.T) {
	t.Parallel()
	records := readPlainly(t, writeSample(t))
	var types []string
	ids := map[string]bool{}
	for i, r := range records {
		types = append(types, r.header.Get("WARC-Type"))
		id := r.header.Get("WARC-Record-ID")
		if ids[id] || !strings.HasPrefix(id, "<urn:uuid:") {
			t.Errorf("record %d has the ID %q", i, id)
		}
		ids[id] = true
		if err := checkDigest(r.header.Get("WARC-Block-Digest"), r.block); err != nil || r.header.Get("WARC-Block-Digest") == "" {
			t.Errorf("record %d: block digest %q: %v", i, r.header.Get("WARC-Block-Digest"), err)
		}
		if r.header.Get("WARC-Type") == "request" {
			continue // what wrote it is said in the answer before it
		}
		if i > 0 && r.header.Get("WARC-Warcinfo-ID") != records[0].header.Get("WARC-Record-ID") {
			t.Errorf("record %d names the warcinfo %q", i, r.header.Get("WARC-Warcinfo-ID"))
		}
	}
	want := []string{"warcinfo", "response", "request", "response", "request", "revisit", "request"}
	if d := cmp.Diff(want, types); d != "" {
		t.Fatalf("record types differ (-want +got):\n%s", d)
	}
	for i := 1; i < len(records); i += 2 {
		if got, want := records[i+1].header.Get("WARC-Concurrent-To"), records[i].header.Get("WARC-Record-ID"); got != want {
			t.Errorf("request %d is concurrent to %s, want %s", i+1, got, want)
		}
	}
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(records[3].block)), nil)
	if err != nil {
		t.Fatalf("response block: %v", err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != strings.Repeat("two ", 5000) || response.Header.Get("Etag") != `"a"` {
		t.Errorf("response = %d bytes, etag %q, %v", len(body), response.Header.Get("Etag"), err)
	}
	for name, want := range map[string]string{
		"WARC-Profile":              "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
		"WARC-Refers-To-Target-URI": "http://example.org/1",
		"WARC-Refers-To-Date":       records[1].header.Get("WARC-Date"),
		"WARC-Payload-Digest":       records[1].header.Get("WARC-Payload-Digest"),
		"WARC-Target-URI":           "http://example.org/3",
		"WARC-Ip-Address":           "127.0.0.1",
		"WARC-Date":                 "2026-03-01T13:00:00.000Z",
	} {
		if got := records[5].header.Get(name); got != want {
			t.Errorf("revisit has %s %q, want %q", name, got, want)
		}
	}
}

func TestGowarcReadsSegmentsStrictly(t *testing.T) {
	t.Parallel()
	r, err := gowarc.NewWarcFileReader(writeSample(t), 0, gowarc.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var n int
	for {
		record, _, validation, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || !validation.Valid() {
			t.Fatalf("record %d: %v, %v", n, err, validation)
		}
		if err := record.Close(); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 7 {
		t.Errorf("gowarc read %d records, want 7", n)
	}
}

// TestReadsForeignArchives reads the samples of the standard's authors and of warcio, all records of each but the one
// that lacks the end of its only record.
func TestReadsForeignArchives(t *testing.T) {
	t.Parallel()
	want := map[string]int{
		"iipc/hello-world.warc": 6, "iipc/hello-world.warc.gz": 6, "warcio/example.warc": 6, "warcio/example.warc.gz": 6,
		"warcio/example-iana.org-chunked.warc": 3, "warcio/example-resource.warc.gz": 3, "warcio/post-test.warc.gz": 6,
		"iipc/20130729-heritrix-original.warc.gz":                                       1,
		"iipc/20130729-heritrix-revisit-with-http-headers.warc.gz":                      1,
		"iipc/20141129-heritrix-original.warc.gz":                                       1,
		"iipc/20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz": 1,
	}
	for name, n := range want {
		records := 0
		text := foreignText(t, shared.Path(t, "conformance/warc/"+name))
		for len(bytes.TrimSpace(text)) > 0 {
			w, rest, err := parseRecord(text)
			if err != nil {
				t.Errorf("%s: record %d: %v", name, records, err)
				break
			}
			if err := checkDigest(w.field("WARC-Block-Digest"), w.block); err != nil {
				t.Errorf("%s: record %d: %v", name, records, err)
			}
			if kind := w.field("WARC-Type"); kind == "response" {
				if _, err := w.answer(); err != nil && !strings.Contains(name, "chunked") {
					t.Errorf("%s: record %d: %v", name, records, err)
				}
			}
			records++
			text = rest
		}
		if records != n {
			t.Errorf("%s: %d records, want %d", name, records, n)
		}
	}
}

// foreignText is a WARC file's plain text, by the library's member reader where it is compressed.
func foreignText(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return raw
	}
	var text []byte
	for src := bufio.NewReader(bytes.NewReader(raw)); ; {
		if _, err := src.Peek(1); err == io.EOF {
			return text
		}
		plain, _, err := readMember(src)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		text = append(text, plain...)
	}
}

// TestKeepsEveryCanonicalURL appends under all URLs of the URL standard's suite that a page could have.
func TestKeepsEveryCanonicalURL(t *testing.T) {
	t.Parallel()
	a := open(t, t.TempDir(), testOptions())
	for _, url := range []string{
		"http://example.org/a|b{c}^`", "http://[::1]:8080/", "http://example.org/%", "http://example.org/%zz?%",
		"http://xn--mnchen-3ya.de/", "http://example.org/?a=<b>", "https://1.2.3.4/a;b,c'(d)", "http://example.org//%2e%2e//",
		"http://example.org/" + strings.Repeat("a", 60_000),
	} {
		r, err := a.Append(capture(url, "body"))
		if err != nil {
			t.Errorf("Append(%.60s): %v", url, err)
			continue
		}
		if got, err := a.Read(r); err != nil || got.URL != url {
			t.Errorf("Read = %.60s, %v, want %.60s", got.URL, err, url)
		}
	}
}

func FuzzWARCRead(f *testing.F) {
	sample, err := os.ReadFile(writeSample(f))
	if err != nil {
		f.Fatal(err)
	}
	plain, length, err := readMember(bytes.NewReader(sample[:]))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain)
	next, _, err := readMember(bytes.NewReader(sample[length:]))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(next)
	f.Add(sample)
	f.Add([]byte("WARC/\n\n\n\n"))
	f.Add([]byte("WARC/1.1\nContent-Length: 0\n\n\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if w, rest, err := parseRecord(raw); err == nil {
			if len(w.block)+len(rest) > len(raw) {
				t.Errorf("block of %d and rest of %d bytes out of %d", len(w.block), len(rest), len(raw))
			}
			if a, err := w.answer(); err == nil && len(a.Body) > len(w.block) {
				t.Errorf("body of %d bytes out of a block of %d", len(a.Body), len(w.block))
			}
		}
		if end, err := lastWhole(bytes.NewReader(raw), int64(len(raw))); err != nil || end < 0 || end > int64(len(raw)) {
			t.Errorf("lastWhole of %d bytes = %d, %v", len(raw), end, err)
		}
	})
}

func htmlPage(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "<li class=\"c%d\"><a href=\"/docs/%x/%d\">Article %x on %d things</a></li>\n", i%7, i*2654435761, i, i*40503, i*i)
	}
	return b.Bytes()[:size]
}

func benchCapture() models.Capture {
	c := capture("http://example.org/docs/install.html", string(htmlPage(8192)))
	c.Outcome.Header = append(c.Outcome.Header, "Server: nginx\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\n"...)
	return c
}

func BenchmarkAppend(b *testing.B) {
	a := open(b, b.TempDir(), testOptions())
	c := benchCapture()
	b.SetBytes(int64(len(c.Outcome.Body)))
	for b.Loop() {
		appendOne(b, a, c)
	}
}

// BenchmarkGowarc is what building and serialising the same record costs with the library.
func BenchmarkGowarc(b *testing.B) {
	c := benchCapture()
	b.SetBytes(int64(len(c.Outcome.Body)))
	var plain, packed bytes.Buffer
	var m members
	marshaler := gowarc.NewMarshaler()
	for b.Loop() {
		builder := gowarc.NewRecordBuilder(gowarc.Response, gowarc.WithDefaultDigestAlgorithm("sha256"),
			gowarc.WithDefaultDigestEncoding(gowarc.Base16), gowarc.WithBufferMaxMemBytes(1<<30))
		for _, f := range append(commonFields(c, newID()), field{"WARC-Warcinfo-ID", newID()}, field{"Content-Type", "application/http;msgtype=response"}) {
			builder.AddWarcHeader(f.name, f.value)
		}
		for _, part := range [][]byte{statusLine(c.Outcome), headBlock(c.Outcome.Header), c.Outcome.Body} {
			if _, err := builder.Write(part); err != nil {
				b.Fatal(err)
			}
		}
		record, _, err := builder.Build()
		if err != nil {
			b.Fatal(err)
		}
		plain.Reset()
		packed.Reset()
		if _, _, err := marshaler.Marshal(&plain, record, 0); err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(record.Close(), m.append(&packed, plain.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRecord is what it costs with our own code.
func BenchmarkRecord(b *testing.B) {
	c := benchCapture()
	b.SetBytes(int64(len(c.Outcome.Body)))
	var plain, packed bytes.Buffer
	var m members
	for b.Loop() {
		plain.Reset()
		packed.Reset()
		if err := errors.Join(marshalAnswer(&plain, c, newID(), newID()), m.append(&packed, plain.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	a := open(b, b.TempDir(), testOptions())
	c := benchCapture()
	r := appendOne(b, a, c)
	b.SetBytes(int64(len(c.Outcome.Body)))
	for b.Loop() {
		if _, err := a.Read(r); err != nil {
			b.Fatal(err)
		}
	}
}
