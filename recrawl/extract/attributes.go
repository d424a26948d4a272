package extract

import (
	"bytes"
	"cmp"
	"strings"
)

// attributes are those that matter anywhere, as strings with character references resolved.
type attributes struct {
	href, src, rel, name, content, httpEquiv, alt, value, kind, lang, hrefLang string
	hasHref                                                                    bool
	hidden                                                                     bool
	shadow                                                                     bool // the content of a template is shown
}

// IsShadow tells whether a value of shadowrootmode makes a template a shadow tree, which is shown in place of its parent's
// content (HTML, 4.12.3).
func IsShadow(mode string) bool {
	return strings.EqualFold(mode, "open") || strings.EqualFold(mode, "closed")
}

// reads are the elements whose attributes are read; of others only what hides them.
var reads = map[string]bool{"a": true, "area": true, "base": true, "frame": true, "html": true, "iframe": true, "img": true,
	"input": true, "link": true, "meta": true, "template": true}

// hide tells whether the element is not shown.
func (a attributes) hide() bool { return a.hidden }

// mayHide tells, from the bytes of a tag, whether its attributes are worth reading for what hides it.
func mayHide(raw []byte) bool {
	return bytes.Contains(raw, []byte("hidden")) || bytes.Contains(raw, []byte("display")) ||
		bytes.Contains(raw, []byte("HIDDEN")) || bytes.Contains(raw, []byte("DISPLAY"))
}

func (r *reader) attributes() attributes {
	var a attributes
	streamed, hidden := false, false
	for {
		key, value, more := r.tokens.TagAttr()
		if r.needs != nil {
			r.needs.attribute(key, value)
		}
		switch string(key) {
		case "href":
			if !a.hasHref { // of an attribute that comes twice the first counts
				a.href, a.hasHref = string(value), true
			}
		case "src":
			a.src = cmp.Or(a.src, string(value))
		case "rel":
			a.rel = cmp.Or(a.rel, string(value))
		case "name":
			a.name = cmp.Or(a.name, string(value))
		case "content":
			a.content = cmp.Or(a.content, string(value))
		case "http-equiv":
			a.httpEquiv = string(value)
		case "alt":
			a.alt = string(value)
		case "value":
			a.value = string(value)
		case "type":
			a.kind = string(value)
		case "hreflang":
			a.hrefLang = string(value)
		case "lang":
			a.lang = cmp.Or(a.lang, string(value))
		case "xml:lang":
			if r.xhtml {
				a.lang = string(value) // XHTML 1.0, C.7
			}
		case "id":
			streamed = bytes.HasPrefix(value, []byte("S:")) // React puts these parts in place at once
		case "hidden":
			hidden = !bytes.EqualFold(value, []byte("until-found"))
		case "shadowrootmode":
			a.shadow = IsShadow(string(value))
		case "style":
			a.hidden = a.hidden || undisplayed(string(value))
		}
		if !more {
			a.hidden = a.hidden || hidden && !streamed
			return a
		}
	}
}

// undisplayed looks for display:none among the declarations of a style attribute.
func undisplayed(style string) bool {
	for declaration := range strings.SplitSeq(style, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		value, _, _ = strings.Cut(value, "!")
		if strings.EqualFold(strings.TrimSpace(property), "display") && strings.EqualFold(strings.TrimSpace(value), "none") {
			return true
		}
	}
	return false
}

// hasWord tells whether a list of words separated by white space holds one, in any case.
func hasWord(list, word string) bool {
	if len(list) < len(word) {
		return false
	}
	for one := range strings.FieldsSeq(list) {
		if strings.EqualFold(one, word) {
			return true
		}
	}
	return false
}
