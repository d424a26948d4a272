package pdf

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// font is what a font's codes mean, and how wide they are drawn.
type font struct {
	toText   codes[string] // what the file says that codes mean
	simple   [256]string   // by code, of a font whose codes are bytes
	wide     bool          // its codes are two bytes
	unicode  bool          // … of UTF-16
	widths   codes[float64]
	width    float64 // of others
	measured bool    // widths are known
}

// glyph is what a code draws.
type glyph struct {
	text  string
	width float64 // in heights of the font
	space bool    // spaces between words are added to it
}

// next takes the first glyph off codes, which are not empty.
func (f *font) next(codes []byte) (glyph, []byte) {
	length := 1
	if f.wide {
		length = min(2, len(codes))
	}
	code := 0
	for _, c := range codes[:length] {
		code = code<<8 | int(c)
	}
	g := glyph{width: f.width, space: length == 1 && code == ' '}
	if w, _, ok := f.widths.of(code); ok {
		g.width = w
	}
	text, first, known := f.toText.of(code)
	switch {
	case known:
		g.text = onwards(text, code-first)
	case f.unicode:
		g.text = utf16BE(codes[:length])
	case !f.wide:
		g.text = f.simple[code]
	}
	return g, codes[length:]
}

// named is the font that a page calls so; nil: there is none.
func (r *reader) named(called string, resources *resources) *font {
	v := resources.fonts.entry(called)
	if v.ref == 0 {
		f, known := resources.direct[called]
		if !known && resources.direct != nil {
			f = r.font(v)
			resources.direct[called] = f
		}
		return f
	}
	f, known := r.fonts[v.ref]
	if !known {
		f = r.font(v)
		r.fonts[v.ref] = f
	}
	if f != nil {
		r.rest.known[v.ref] = knownAll
	}
	return f
}

// font reads a font; nil: it is none.
func (r *reader) font(v value) *font {
	dict := r.file.resolve(v)
	if r.codes -= 1 << 8; dict.token != "<<" || r.codes < 0 { // a font without any takes memory, too
		return nil
	}
	f := &font{widths: newCodes[float64](&r.codes), toText: newCodes[string](&r.codes)}
	if text, ok := r.file.data(dict.entry("/ToUnicode")); ok {
		readCMap(&f.toText, text)
	}
	if dict.entry("/Subtype").token == "/Type0" {
		r.composite(f, &dict)
	} else {
		r.plain(f, &dict)
	}
	f.widths.sort()
	f.toText.sort()
	return f
}

// composite reads a font of many glyphs (section 9.7).
func (r *reader) composite(f *font, dict *value) {
	encoding := dict.entry("/Encoding").token
	f.wide, f.unicode, f.measured, f.width = true, strings.Contains(encoding, "UCS2") || strings.Contains(encoding, "UTF16"), true, 1
	list := r.file.resolve(dict.entry("/DescendantFonts"))
	if len(list.list) == 0 {
		return
	}
	descendant := r.file.resolve(list.list[0])
	if w := r.file.resolve(descendant.entry("/DW")); w.token != "" {
		f.width = number(w) / 1000
	}
	widths := r.file.resolve(descendant.entry("/W")).list
	for len(widths) >= 2 {
		first := int(number(widths[0]))
		second := r.file.resolve(widths[1])
		switch {
		case second.token == "[":
			for i := range second.list {
				f.widths.add(first+i, first+i, number(second.list[i])/1000)
			}
			widths = widths[2:]
		case len(widths) >= 3:
			f.widths.add(first, int(number(second)), number(widths[2])/1000)
			widths = widths[3:]
		default:
			return
		}
	}
}

// plain reads a font whose codes are bytes (sections 9.5 and 9.6).
func (r *reader) plain(f *font, dict *value) {
	unit := 0.001
	if m := r.file.resolve(dict.entry("/FontMatrix")); len(m.list) > 0 {
		unit = number(m.list[0])
	}
	descriptor := r.file.resolve(dict.entry("/FontDescriptor"))
	f.width = 0.5
	if w := descriptor.entry("/MissingWidth"); w.token != "" {
		f.width = number(w) * unit
	}
	first := int(number(dict.entry("/FirstChar")))
	widths := r.file.resolve(dict.entry("/Widths")).list
	for i := range widths {
		f.widths.add(first+i, first+i, number(r.file.resolve(widths[i]))*unit)
	}
	f.measured = len(widths) > 0
	encoding := r.file.resolve(dict.entry("/Encoding"))
	base := encoding.token
	if base == "<<" {
		base = encoding.entry("/BaseEncoding").token
	}
	f.encode(base)
	if program, ok := r.file.data(descriptor.entry("/FontFile")); ok && !strings.HasSuffix(base, "Encoding") {
		f.built(program)
	}
	f.differ(r.file.resolve(encoding.entry("/Differences")).list)
}

// encode gives the codes the meaning of an encoding that has a name (annex D); one without has the standard one.
func (f *font) encode(base string) {
	for code := range 256 {
		switch base {
		case "/WinAnsiEncoding":
			f.simple[code] = string(charmap.Windows1252.DecodeByte(byte(code)))
		case "/MacRomanEncoding":
			f.simple[code] = string(charmap.Macintosh.DecodeByte(byte(code)))
		default:
			f.simple[code] = standard(byte(code))
		}
	}
}

var builtCode = regexp.MustCompile(`dup\s+(\d+)\s*/(\S+)\s+put`)

// built gives the codes the meaning that a Type 1 font itself says (Adobe Type 1 Font Format, 1990, section 2.3).
func (f *font) built(program []byte) {
	for _, m := range builtCode.FindAllSubmatch(program[:min(len(program), 1<<16)], 256) {
		if code, err := strconv.Atoi(string(m[1])); err == nil && code < len(f.simple) {
			f.simple[code] = glyphText(string(m[2]))
		}
	}
}

// differ gives some codes the meaning of glyphs by name.
func (f *font) differ(list []value) {
	code := 0
	for i := range list {
		if token := list[i].token; strings.HasPrefix(token, "/") {
			if code >= 0 && code < len(f.simple) {
				f.simple[code] = glyphText(token[1:])
			}
			code++
		} else {
			code = int(number(list[i]))
		}
	}
}
