package content

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"

	"recrawld/recrawl/pdf"
)

// maxPacked is how many files are looked at in a package.
const maxPacked = 10_000

// What gzip and zip files begin with.
var (
	gzipMagic = []byte("\x1f\x8b")
	zipMagic  = []byte("PK\x03\x04")
)

// MayBeRemade tells a file that Remade can look into.
func MayBeRemade(body []byte) bool {
	return bytes.HasPrefix(body, gzipMagic) || bytes.HasPrefix(body, zipMagic) || pdf.Is(body)
}

// Remade tells whether two files are one content, made at other times, as servers make what is asked for: gzip, zip and PDF.
// What it says no to may be one content all the same.
func Remade(before, after []byte) bool {
	both := func(magic []byte) bool { return bytes.HasPrefix(before, magic) && bytes.HasPrefix(after, magic) }
	switch {
	case pdf.Is(before) && pdf.Is(after):
		return pdf.Same(before, after)
	case both(gzipMagic):
		a, okA := gunzip(before)
		b, okB := gunzip(after)
		return okA && okB && sameMails(a, b)
	case both(zipMagic):
		return sameFiles(before, after)
	}
	return false
}

// gunzip unpacks a gzip file of up to MaxBytes; false: it is longer, or damaged.
func gunzip(body []byte) ([]byte, bool) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	return text, err == nil && len(text) <= MaxBytes
}

// sameMails tells whether two texts are the same but for what parts the parts of mails, which programs make up anew each time that they
// write one (RFC 2046, section 5.1.1).
func sameMails(before, after []byte) bool {
	if bytes.Equal(before, after) {
		return true
	}
	became := map[string]string{}
	for len(before) > 0 || len(after) > 0 {
		var was, is []byte
		was, before, _ = bytes.Cut(before, []byte("\n"))
		is, after, _ = bytes.Cut(after, []byte("\n"))
		if bytes.Equal(was, is) {
			continue
		}
		if head, one, ok := cutBoundary(was); ok {
			again, other, ok := cutBoundary(is)
			if !ok || head != again {
				return false
			}
			became[one] = other
			continue
		}
		one, other := string(bytes.TrimSpace(was)), string(bytes.TrimSpace(is))
		one, ends := strings.CutSuffix(one, "--")
		other, endsToo := strings.CutSuffix(other, "--")
		if to, ok := became[strings.TrimPrefix(one, "--")]; !ok || "--"+to != other || ends != endsToo {
			return false
		}
	}
	return true
}

// cutBoundary parts a field of a mail that names what parts its parts.
func cutBoundary(line []byte) (head, boundary string, ok bool) {
	head, boundary, ok = strings.Cut(string(bytes.TrimSpace(line)), "boundary=")
	boundary, _, _ = strings.Cut(boundary, ";")
	return head, strings.Trim(boundary, `"`), ok && boundary != ""
}

// sameFiles tells whether two zip files hold the same files by name, length and checksum, but for those that say of an office document when and by whom
// it was made. A checksum of 32 bits does not withstand somebody who wants it to be the same; who packs files by chance is told from himself.
func sameFiles(before, after []byte) bool {
	a, err := zip.NewReader(bytes.NewReader(before), int64(len(before)))
	if err != nil {
		return false
	}
	b, err := zip.NewReader(bytes.NewReader(after), int64(len(after)))
	if err != nil || len(a.File) != len(b.File) || len(a.File) > maxPacked || a.Comment != b.Comment {
		return false
	}
	says := properties(a.File)
	for i, f := range a.File {
		g := b.File[i]
		if f.Name != g.Name || f.Comment != g.Comment || f.Flags&encrypted != 0 {
			return false
		}
		if (f.CRC32 != g.CRC32 || f.UncompressedSize64 != g.UncompressedSize64) && !slices.Contains(says, f.Name) {
			return false
		}
	}
	return true
}

// properties are the files of an office document that hold nothing of what it shows: when and by whom it was made, and how an editor shows it (ISO/IEC
// 29500-2, section 11; ODF 1.3, part 2, section 2.2). Of another package they are none.
func properties(files []*zip.File) []string {
	switch {
	case len(files) > 0 && files[0].Name == "mimetype":
		return []string{"meta.xml", "settings.xml"}
	case slices.ContainsFunc(files, func(f *zip.File) bool { return f.Name == "[Content_Types].xml" }):
		return []string{"docProps/core.xml", "docProps/app.xml"}
	}
	return nil
}

// encrypted is the flag of a file in a zip file that cannot be read: what its checksum is of, nobody knows.
const encrypted = 1
