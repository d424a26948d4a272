package folder

import (
	"crypto/sha256"
	"encoding/base32"
	"path"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"recrawld/internal/filename"
)

const (
	mark     = '%'          // of a byte that is written as two digits, as it stands in the URL
	maxName  = 1000         // bytes of a whole name
	start    = "index.html" // the page to begin with, at the root
	ours     = ".recrawl"   // what the folder keeps for itself: no part of a name begins with a dot
	queryTag = "~q-"        // before the hash of a query
	longTag  = "~l-"        // before the hash of a part that was cut
	clashTag = "~c-"        // before the hash of a URL whose name another page has
	dirTag   = "~d"         // behind a directory that looks like a file
	unknown  = "~u/"        // before the hash of a URL that is not read here
	shortest = 10           // letters of the hash of a query: 50 bits
	longest  = 26           // letters of other hashes: 130 bits, so that nobody finds two URLs with one
)

// wished is the name of a page's file where no other page has the same: relative, with slashes. It is a pure function of the URL and of the
// media type that the page was sent with.
//
//	https://example.org/                    example.org/index.html
//	https://example.org/docs/               example.org/docs/index.html
//	https://example.org/docs                example.org/docs.html
//	https://example.org/list.php            example.org/list.php.html
//	https://example.org/list.php?page=2     example.org/list.php~q-hzlqdkyvkk.html
//	https://example.org/app.css?v=7         example.org/app~q-7hdxqezotl.css
//	https://example.org/a.html/b.png        example.org/a.html~d/b.png      (a.html may be a file, too)
//	https://example.org/m%C3%BCll%20x       example.org/müll x.html
//	http://example.org/                     example.org_80/index.html
//
// A file name ends in an extension that says its type, and no directory looks like a file, but for that of the host: so no file and no
// directory ever want the same name. Percent escapes are decoded where that gives a letter which every system takes; other bytes that some
// system does not take in a name, or not there, are written as percent escapes.
func wished(url, mediaType string) string {
	a, rest, ok := filename.SplitURL(url)
	if !ok { // canonical by other rules, of an earlier release
		return unknown + hash(url, longest) + "." + extensions(mediaType).first()
	}
	where, query, hasQuery := strings.Cut(rest, "?")
	segments := strings.Split(where[1:], "/")
	last := len(segments) - 1
	parts := []string{hostPart(a)}
	for _, segment := range segments[:last] {
		parts = append(parts, directoryPart(segment))
	}
	stem, extension := filePart(segments[last], mediaType)
	if hasQuery {
		stem += queryTag + hash(query, shortest)
	}
	parts = append(parts, fit(guard(stem+extension), longTag, stem+extension, extension))
	if whole := strings.Join(parts, "/"); len(whole) <= maxName {
		return whole
	}
	return parts[0] + "/~l/" + hash(url, longest) + extension
}

// apart is the name of a page's file where another page has the one that it wished for. No page wishes for such a name.
func apart(name, url string) string {
	dir, file := path.Split(name)
	extension := path.Ext(file)
	stem := strings.TrimSuffix(file, extension)
	tail := clashTag + hash(url, longest) + extension
	return dir + filename.Cut(stem, filename.MaxPart-len(tail)) + tail
}

func hostPart(a filename.Authority) string {
	host, port := a.Part(mark)
	part := guard(host) + port
	if part == start {
		part += dirTag
	}
	return fit(part, longTag, part, "")
}

func directoryPart(segment string) string {
	part := guard(escape(segment))
	if part == "" || filename.LooksLikeFile(part) {
		part += dirTag
	}
	return fit(part, longTag, part, "")
}

// filePart is the last segment without its extension, and the extension: its own where that says the type which the page was sent with.
func filePart(segment, mediaType string) (stem, extension string) {
	stem = escape(segment)
	if stem == "" {
		stem = "index"
	}
	known := extensions(mediaType)
	if dot := strings.LastIndexByte(stem, '.'); dot > 0 && filename.LooksLikeFile(stem) && known.has(strings.ToLower(stem[dot+1:])) {
		stem, extension = stem[:dot], stem[dot:]
	} else {
		extension = "." + known.first()
	}
	if tagged := folded(stem); strings.Contains(tagged, clashTag) {
		stem = norm.NFC.String(strings.NewReplacer("~", "%7E", "～", "%EF%BD%9E").Replace(stem))
	}
	return stem, extension
}

// escape turns a segment of a URL into text of a name, in Unicode's normal form C.
func escape(segment string) string {
	text := upperEscapes(segment)
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if r, n := filename.Printed(text[i:]); n > 0 && !(r == ' ' && (i == 0 || i+n == len(text))) {
			b.WriteRune(r)
			i += n - 1
		} else if c, ok := escapedByte(text[i:]); ok {
			if c > ' ' && c < 0x7f && c != '.' && c != mark && !strings.ContainsRune(filename.Forbidden, rune(c)) {
				b.WriteByte(c)
			} else {
				filename.EscapeByte(&b, mark, c)
			}
			i += len("41")
		} else if filename.Taken(text, i) {
			b.WriteByte(text[i])
		} else {
			filename.EscapeByte(&b, mark, text[i])
		}
	}
	return norm.NFC.String(b.String())
}

// escapedByte is the byte that a percent escape at the beginning of a text stands for.
func escapedByte(text string) (byte, bool) {
	if len(text) < 3 || text[0] != '%' || !filename.IsHex(text[1]) || !filename.IsHex(text[2]) {
		return 0, false
	}
	return filename.Unhex(text[1])<<4 | filename.Unhex(text[2]), true
}

// upperEscapes gives all percent escapes upper-case digits.
func upperEscapes(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if upper := strings.ToUpper(text[i : i+3]); b[i] == '%' && filename.IsHex(upper[1]) && filename.IsHex(upper[2]) {
			copy(b[i:], upper)
			i += 2
		}
	}
	return string(b)
}

// guard writes the first letter of what Windows takes for a device as an escape.
func guard(part string) string {
	if !filename.Reserved(part) {
		return part
	}
	var b strings.Builder
	filename.EscapeByte(&b, mark, part[0])
	return b.String() + part[1:]
}

// fit is a part of a name, or where it is too long its beginning and a hash of what it is made of.
func fit(part, tag, of, extension string) string {
	if len(part) <= filename.MaxPart {
		return part
	}
	tail := tag + hash(of, longest) + extension
	return filename.Cut(part, filename.MaxPart-len(tail)) + tail
}

// folded is what a name is taken for where a system tells neither case nor forms of a letter apart: names that differ in it are different
// everywhere.
func folded(name string) string {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
		}
	}
	return strings.ToLower(name)
}

// letters are those of hashes: what no system folds or forbids.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// hash is the beginning of a SHA-256.
func hash(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	return letters.EncodeToString(sum[:])[:n]
}
