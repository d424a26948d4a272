package content

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
)

// maxPacked is how many files are looked at in a package.
const maxPacked = 10_000

// What gzip and zip files begin with.
var (
	gzipMagic = []byte("\x1f\x8b")
	zipMagic  = []byte("PK\x03\x04")
)

// IsPacked tells a package that Repacked can look into.
func IsPacked(body []byte) bool {
	return bytes.HasPrefix(body, gzipMagic) || bytes.HasPrefix(body, zipMagic)
}

// Repacked tells whether two files are packages of one content, packed at other times, as servers pack what is asked for: gzip and zip.
// What it says no to may be one content all the same.
func Repacked(before, after []byte) bool {
	switch {
	case bytes.HasPrefix(before, gzipMagic):
		a, okA := gunzip(before)
		b, okB := gunzip(after)
		return okA && okB && sameMails(a, b)
	case bytes.HasPrefix(before, zipMagic):
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

// sameFiles tells whether two zip files hold the same files by name, length and checksum. A checksum of 32 bits does not withstand
// somebody who wants it to be the same; who packs files by chance is told from himself.
func sameFiles(before, after []byte) bool {
	a, err := zip.NewReader(bytes.NewReader(before), int64(len(before)))
	if err != nil {
		return false
	}
	b, err := zip.NewReader(bytes.NewReader(after), int64(len(after)))
	if err != nil || len(a.File) != len(b.File) || len(a.File) > maxPacked || a.Comment != b.Comment {
		return false
	}
	for i, f := range a.File {
		if g := b.File[i]; f.Name != g.Name || f.CRC32 != g.CRC32 || f.UncompressedSize64 != g.UncompressedSize64 || f.Comment != g.Comment ||
			f.Flags&encrypted != 0 {
			return false
		}
	}
	return true
}

// encrypted is the flag of a file in a zip file that cannot be read: what its checksum is of, nobody knows.
const encrypted = 1
