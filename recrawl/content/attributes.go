package content

import (
	"bytes"
	"cmp"
	"strings"

	"golang.org/x/net/html"

	"recrawld/recrawl/extract"
)

// attributes are those of one start tag that matter.
type attributes struct {
	href, src, kind, value, id string

	label   string // first class, or id, without digits
	flags   Flags
	level   uint8 // aria-level
	heading bool  // role=heading
	dated   bool  // a reader is told a date when he points at it
	spans   bool  // a cell takes several columns
	turns   bool  // a link to the page before or after this one

	hidden, streamed bool
	shadow           bool // the content of a template is shown: it is a shadow tree
}

// maxLabel is the length in bytes of the longest class or id that tells where a block stands.
const maxLabel = 40

// maxWords is how many bytes of a class or id are read for the region that it names.
const maxWords = 4096

// read takes the attributes of the start tag that the tokenizer stands at.
func (a *attributes) read(tokens *html.Tokenizer) {
	for more := true; more; {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		a.take(key, value)
	}
	a.settle()
}

// from takes attributes that were read before.
func (a *attributes) from(all []html.Attribute) {
	for _, one := range all {
		a.take([]byte(one.Key), []byte(one.Val))
	}
	a.settle()
}

func (a *attributes) take(key, value []byte) {
	switch string(key) {
	case "href":
		a.href = cmp.Or(a.href, string(value)) // of an attribute that comes twice the first counts
	case "src":
		a.src = cmp.Or(a.src, string(value))
	case "type":
		a.kind = string(value)
	case "value":
		a.value = string(value)
	case "class":
		a.class(value)
	case "id":
		a.streamed = bytes.HasPrefix(value, []byte("S:")) // React puts these parts in place at once
		a.id = withoutDigits(value)
		a.flags |= regionOf(string(value[:min(len(value), maxWords)]))
	case "role":
		a.heading = string(value) == "heading"
		a.flags |= flagsOfRole[string(value)]
	case "aria-level":
		if len(value) == 1 && value[0] >= '1' && value[0] <= '6' {
			a.level = value[0] - '0'
		}
	case "aria-modal":
		if string(value) == "true" {
			a.flags |= InDialog
		}
	case "rel":
		a.turns = isTurning(value)
	case "title", "datetime":
		a.dated = a.dated || isDate(value)
	case "colspan":
		a.spans = string(value) != "1"
	case "hidden":
		a.hidden = !bytes.EqualFold(value, []byte("until-found"))
	case "shadowrootmode":
		a.shadow = extract.IsShadow(string(value))
	case "style":
		if undisplayed(value) {
			a.flags |= Hidden
		}
	}
}

// settle draws together what several attributes say.
func (a *attributes) settle() {
	if a.hidden && !a.streamed {
		a.flags |= Hidden
	}
	if a.label == "" {
		a.label = a.id
	}
	if !a.heading {
		a.level = 0
	}
}

// class takes the first class for the label and all for the flags.
func (a *attributes) class(value []byte) {
	value = value[:min(len(value), maxWords)]
	first := bytes.TrimSpace(value)
	if at := bytes.IndexAny(first, " \t\r\n\f"); at >= 0 {
		first = first[:at]
	}
	a.label = withoutDigits(first)
	a.flags |= regionOf(string(value))
}

func withoutDigits(value []byte) string {
	var b strings.Builder
	for _, c := range value[:min(len(value), maxLabel)] {
		if c < '0' || c > '9' {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// undisplayed looks for display:none among the declarations of a style attribute.
func undisplayed(style []byte) bool {
	for {
		at := bytes.Index(style, []byte("display"))
		if at < 0 {
			return false
		}
		style = style[at+len("display"):]
		if rest, ok := bytes.CutPrefix(bytes.TrimLeft(style, " \t\n"), []byte(":")); ok &&
			bytes.HasPrefix(bytes.TrimLeft(rest, " \t\n"), []byte("none")) {
			return true
		}
	}
}
