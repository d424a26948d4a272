package intake

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzRead reads anything as what it looks like and as every format there is: nothing panics, each entry stands somewhere, and there are no
// more of them than bytes, gzip apart.
func FuzzRead(f *testing.F) {
	for _, test := range formats {
		if len(test.text) < 2000 { // a longer one takes the fuzzer a minute to make smaller
			f.Add([]byte(test.text))
		}
	}
	f.Add([]byte(`<!DOCTYPE NETSCAPE-Bookmark-file-1><DT><A FEEDURL="https://example.org/f" HREF="javascript:x">z</A>`))
	f.Add([]byte(`<urlset><url><loc>https://example.org/?a&amp;b</loc></url></urlset>`))
	f.Add([]byte(packed(f, formats[0].text)))
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if out, err := w.Create("pages/pages.jsonl"); err != nil {
		f.Fatal(err)
	} else if _, err := io.WriteString(out, `{"url": "https://example.org/"}`); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("\ufeff 0"))
	all := []Format{Auto}
	for format := range streams {
		all = append(all, format)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		isPacked := bytes.HasPrefix(text, []byte{0x1F, 0x8B})
		if s, err := openPackage(bytes.NewReader(text), int64(len(text)), nil); err == nil {
			take(s)
		} else if !errors.Is(err, ErrFormat) {
			t.Errorf("as a package: %v", err)
		}
		for _, format := range all {
			s, err := Read(bytes.NewReader(text), Options{Format: format, Base: "https://example.org/"})
			if err != nil {
				if !errors.Is(err, ErrFormat) {
					t.Errorf("as %q: %v", format, err)
				}
				continue
			}
			entries, last := 0, error(nil)
			for item, err := range s.Items() {
				if last != nil && !isBad(last) {
					t.Errorf("as %q: %v, and then more", format, last)
				}
				if last = err; err == nil && (item.Place.String() == "" || item.FR < 0 || !item.Skip && strings.TrimSpace(item.URL) != item.URL && format != WARC) {
					t.Errorf("as %q: %+v", format, item)
				}
				entries++
			}
			if entries > 3*len(text)+1 && !isPacked {
				t.Errorf("as %q: %d entries of %d bytes", format, entries, len(text))
			}
		}
	})
}
