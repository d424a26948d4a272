package sink

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"recrawld/internal/filename"
)

const (
	maxPart = filename.MaxPart
	maxName = 1000 // bytes of a whole name
	mark    = '#'  // never raw in a canonical URL without fragment, so whatever has it is ours
	hashed  = "#~" // before the hash of a part that was cut
	index   = "index.html"
)

// Name is the path of a URL's file in a mirror tree, relative and with slashes. It is a pure function of the URL: no
// file has to be renamed because another one turns up. Different URLs have different names, on file systems that tell
// case apart, and URL takes a name back to its URL unless a part was cut.
//
//	https://example.org/                    example.org/index.html
//	https://example.org/docs/               example.org/docs/index.html
//	https://example.org/docs/install.html   example.org/docs/install.html
//	https://example.org/list.php?page=2     example.org/list.php#page=2
//	https://example.org/docs                example.org/docs#.html         (docs may be a directory, too)
//	https://example.org/list?page=2         example.org/list#page=2.html
//	https://example.org/docs/index.html     example.org/docs/#index.html   (the plain name is that of docs/)
//	https://example.org/a.html/b.png        example.org/a.html#/b.png      (a.html may be a file, too)
//	https://example.org/m%C3%BCll%20x.html  example.org/müll x.html
//	http://example.org/                     example.org_80/index.html
//	https://example.org:8443/               example.org_8443/index.html
//	http://example.org:8443/                example.org_8443_http/index.html
//
// A file name either looks like one (it ends in a dot, a letter and at most seven letters or digits) or carries a
// mark; a directory that looks like a file carries one: so no file and no directory ever want the same name. "#XX" is
// a byte that some system does not take in a name, or not there (control characters, <>:"|*\, trailing dots and
// spaces, a leading dot, so that no .htaccess and no .git comes from a site); a leading "#" keeps names apart that a
// system reserves (CON, NUL, …). Percent signs and what follows them stay as they are, but for what a browser would
// look for under its plain name: spaces and printable letters beyond ASCII. A part longer than 200 bytes is cut and
// ends in the first 128 bits of its SHA-256; the manifest knows its URL.
func Name(url string) string { return name(url, false) }

// FoldedName is Name for file systems that take A and a, or two forms of ü, for the same: a part with an upper-case
// letter or one beyond ASCII ends in its hash too.
func FoldedName(url string) string { return name(url, true) }

func name(url string, fold bool) string {
	a, rest, ok := filename.SplitURL(url)
	if !ok {
		return hashed + "/" + hashOf(url)
	}
	path, query, hasQuery := strings.Cut(rest, "?")
	segments := strings.Split(path[1:], "/")
	last := len(segments) - 1
	host, port := a.Part(mark)
	parts := []string{shorten(guard(host)+port, "", fold)}
	for _, segment := range segments[:last] {
		parts = append(parts, shorten(directoryPart(segment), "", fold))
	}
	file, extension := filePart(segments[last], query, hasQuery)
	parts = append(parts, shorten(file, extension, fold))
	if whole := strings.Join(parts, "/"); len(whole) <= maxName {
		return whole
	}
	return parts[0] + "/" + hashed + "/" + hashOf(url) + extension
}

// directoryPart is the name of a directory for a path segment.
func directoryPart(segment string) string {
	part := guard(escape(segment))
	if part == "" || filename.LooksLikeFile(part) {
		return part + string(mark)
	}
	return part
}

// filePart is the name of the file for the last path segment and the query, and the extension it ends in.
func filePart(segment, query string, hasQuery bool) (part, extension string) {
	if segment == "" {
		part = index
	} else {
		part = guard(escape(segment))
		if strings.EqualFold(part, index) {
			part = string(mark) + part
		}
	}
	plain := !filename.LooksLikeFile(part)
	switch {
	case hasQuery:
		part += string(mark) + escapeQuery(query)
	case plain:
		part += string(mark)
	}
	if plain {
		part += ".html"
	}
	if i := strings.LastIndexByte(part, '.'); i >= 0 && filename.LooksLikeFile(part) {
		extension = part[i:]
	}
	return part, extension
}

// escape turns text of a URL into text of a name.
func escape(text string) string {
	if unescaped(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if r, n := filename.Printed(text[i:]); n > 0 && !(r == ' ' && (i == 0 || i+n == len(text))) {
			b.WriteRune(r)
			i += n
			continue
		}
		if c := text[i]; c != mark && filename.Taken(text, i) {
			b.WriteByte(c)
		} else {
			filename.EscapeByte(&b, mark, c)
		}
		i++
	}
	return b.String()
}

// unescaped tells whether text stays as it is, as far as a look at its bytes tells: most do.
func unescaped(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !filename.IsLetter(c) && !filename.IsDigit(c) && c != '-' && c != '_' && (c != '.' || i == 0 || i+1 == len(text)) {
			return false
		}
	}
	return true
}

// escapeQuery is escape for what follows the mark of a query: it never begins like one of our own forms.
func escapeQuery(query string) string {
	text := escape(query)
	if text == "" {
		return string(mark)
	}
	if text[0] == '~' || (len(text) > 1 && filename.IsHex(text[0]) && filename.IsHex(text[1])) {
		var b strings.Builder
		filename.EscapeByte(&b, mark, text[0])
		return b.String() + text[1:]
	}
	return text
}

// guard puts a mark before what Windows takes for a device.
func guard(part string) string {
	if filename.Reserved(part) {
		return string(mark) + part
	}
	return part
}

// shorten cuts a part that is too long, or marks one that a folding file system would mix up.
func shorten(part, extension string, fold bool) string {
	if len(part) <= maxPart && !(fold && folds(part)) {
		return part
	}
	tail := hashed + hashOf(part) + extension
	stem := strings.TrimSuffix(part, extension)
	return filename.Cut(stem, maxPart-len(tail)) + tail
}

func folds(part string) bool {
	for i := range len(part) {
		if part[i] >= utf8.RuneSelf || 'A' <= part[i] && part[i] <= 'Z' {
			return true
		}
	}
	return false
}

// hashOf is the first 128 bits of a SHA-256 in lower-case hex.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}
