package content

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// What generators, and the programs whose output manuals show, number anew at each build: anchors, and objects by where they lie in memory.

// marker drops a link to a place of the page that shows nothing, or the mark of such a link: a reader copies the address of a heading or of a line
// of code from it. What scripts show behind a hash is another page. e is the element of the link, whose text ends here.
func (r *reader) marker(e *element) {
	last := len(r.links) - 1
	if e.from < r.start || last < 0 || last >= e.links || r.links[last].Target != "#" || !isMarker(r.text[e.from:]) {
		return
	}
	if to := r.links[last].Whole; strings.HasPrefix(to, "#/") || strings.HasPrefix(to, "#!") {
		return
	}
	runes := int32(utf8.RuneCount(r.text[e.from:]))
	r.space = r.space || len(r.text) > e.from && r.text[e.from] == ' '
	r.links, r.text, r.runes, r.inLinks = r.links[:last], r.text[:e.from], r.runes-runes, r.inLinks-runes
}

// isMarker tells the marks of links to headings, and those of fonts of icons, which have none of their own in Unicode (its private use area).
func isMarker(text []byte) bool {
	const longest = 8 // bytes
	if len(text) > longest {
		return false
	}
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		if !strings.ContainsRune(" ¶§#🔗⚓", c) && (c < 0xE000 || c > 0xF8FF) {
			return false
		}
		text = text[size:]
	}
	return true
}

// isHashed tells an anchor that is named for a hash of what it stands at, as Doxygen does: it is another where a parameter is.
func isHashed(fragment string) bool {
	const least = 32 // digits of the shortest hash
	fragment = strings.TrimPrefix(fragment, "g")
	return len(fragment) >= least && isHex(fragment)
}

// editsSource tells the address of the form in which a page's source is edited, as forges have it: /owner/repository/edit/branch/path, and with /-/
// before edit. Neither the branch nor the form is anything that the page says.
func editsSource(path string) bool {
	if !strings.Contains(path, "/edit/") {
		return false
	}
	parts := strings.SplitN(strings.Replace(path, "/-/edit/", "/edit/", 1), "/", 6)
	return len(parts) == 6 && parts[3] == "edit" && parts[4] != "" && strings.Contains(parts[5], ".")
}

// moved tells lines that differ in nothing but where objects lie in memory.
func (p *pair) moved() bool {
	if p.before == nil || p.after == nil || p.before.Text == p.after.Text || !slices.Equal(p.before.Links, p.after.Links) || !mayHaveObjects(p.after.Text) {
		return false
	}
	return withoutObjects(p.before.Text) == withoutObjects(p.after.Text)
}

func mayHaveObjects(s string) bool { return strings.Contains(s, "0x") || strings.IndexByte(s, '@') > 0 }

// withoutObjects is a text without the numbers of its objects: addresses of 64 bits (0x7f91c801a908), and what Java writes for an object that says
// nothing of itself (cats.Later@26df33cb) and for a function (ContT$$Lambda$117). A commit that is pinned stands behind the name of a repository.
func withoutObjects(s string) string {
	var b strings.Builder
	for s != "" {
		end := strings.IndexAny(s, " ,;()<>")
		if end < 0 {
			end = len(s)
		}
		b.WriteString(withoutNumber(s[:end]))
		if end < len(s) {
			b.WriteByte(s[end])
			end++
		}
		s = s[end:]
	}
	return b.String()
}

// withoutNumber is a word without what numbers its object.
func withoutNumber(w string) string {
	if name, number, is := strings.Cut(w, "@"); is && isIdentity(number, strings.Contains(name, "$")) && namesClass(name) {
		w = name
	}
	if name, number, is := strings.Cut(w, "0x"); is && isAddress(number) {
		w = name
	}
	if name, number, is := strings.Cut(w, "$$Lambda$"); is && strings.Trim(number, "0123456789/") == "" {
		w = name
	}
	return w
}

// isAddress tells an address of 64 bits as programs print it: without the zeros before it, or with all of them.
func isAddress(digits string) bool {
	const short, most, whole = 9, 12, 16
	return isHex(digits) && (len(digits) >= short && len(digits) <= most || len(digits) == whole && strings.HasPrefix(digits, "0000"))
}

// isIdentity tells the number of an object of Java, 32 bits mostly without the zeros before it. One in forty of them has no letter, and may be an
// amount where the name does not tell that it is made by a program.
func isIdentity(s string, made bool) bool {
	const least, most = 5, 8
	return len(s) >= least && len(s) <= most && strings.Trim(s, "0123456789abcdef") == "" && (made || strings.ContainsAny(s, "abcdef"))
}

// namesClass tells the name of a class of Java, with its package or without, and of a function.
func namesClass(s string) bool {
	if name, address, is := strings.Cut(s, "/0x"); is && isAddress(address) {
		s = name
	}
	if s == "" || strings.Contains(s, "/") {
		return false
	}
	last := s[strings.LastIndexAny(s, ".$=[:")+1:]
	return last != "" && (last[0] >= 'A' && last[0] <= 'Z' || strings.Contains(s, "$") && strings.Trim(last, "0123456789") == "")
}
