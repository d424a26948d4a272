package folder

import (
	"strconv"
	"strings"
	"time"

	"recrawld/recrawl/extract"
)

// said is an attribute that is of interest, with its value.
type said struct {
	name string
	use  use
	at   attribute
	text string // in UTF-8, character references resolved
	to   string // what shall stand in its place
	swap bool   // it shall
	here bool   // it leads into the folder
}

// tag is a start tag with those of its attributes that are of interest: of one that comes twice the first, which counts.
type tag struct {
	element string
	raw     []byte
	nameEnd int
	said    []said
	barred  bool            // it has one of those that forbid to load from a file
	drop    map[string]bool // attributes to be taken out
}

// read reads a tag.
func (t *tag) read(raw []byte, decode func([]byte) string) {
	element, end := tagName(raw)
	*t = tag{element: element, raw: raw, nameEnd: end, said: t.said[:0]}
	eachAttribute(raw, end, func(a attribute) {
		name := lowerName(raw[a.start:a.nameEnd])
		u := useOf(element, name)
		t.barred = t.barred || barred[name]
		if u == unused || !a.valued || t.find(name) != nil {
			return
		}
		value := raw[a.valueStart:a.valueEnd]
		t.said = append(t.said, said{name: name, use: u, at: a, text: plainValue(decode(value))})
	})
}

func (t *tag) find(name string) *said {
	for i := range t.said {
		if t.said[i].name == name {
			return &t.said[i]
		}
	}
	return nil
}

// value is the value of an attribute, "" for none.
func (t *tag) value(name string) string {
	if s := t.find(name); s != nil {
		return s.text
	}
	return ""
}

// set puts a value in place of an attribute's.
func (s *said) set(to string) {
	s.to, s.swap = to, to != s.text
}

// write puts the tag's changes into the page, where the tag begins at a place.
func (t *tag) write(p *patch, begin int) {
	changed := len(t.drop) > 0
	for i := range t.said {
		changed = changed || t.said[i].swap
	}
	if !changed {
		return
	}
	next := 0
	eachAttribute(t.raw, t.nameEnd, func(a attribute) {
		for next < len(t.said) && t.said[next].at.start < a.start {
			next++
		}
		switch {
		case t.drop[lowerName(t.raw[a.start:a.nameEnd])]:
			p.replace(begin+a.start, begin+a.end, "")
		case next < len(t.said) && t.said[next].at.start == a.start && t.said[next].swap:
			from := a.valueStart
			if a.quote != 0 {
				from--
			}
			p.replace(begin+from, begin+a.end, quotedValue(t.said[next].to, a.quote))
		}
	})
}

// rewrite rewrites what a tag refers to.
func (r *referrer) rewrite(t *tag) {
	here := false
	for i := range t.said {
		s := &t.said[i]
		r.attribute(t, s)
		here = here || s.here
	}
	switch {
	case here && t.barred:
		t.drop = barred
	case t.element == "base" && t.find("href") != nil:
		t.drop = map[string]bool{"href": true}
	case t.element == "meta":
		r.meta(t)
	}
}

func (r *referrer) attribute(t *tag, s *said) {
	switch s.use {
	case link, need, lazy:
		r.reference(t, s)
	case online:
		if l := r.online(s.text); !l.kept {
			s.set(l.to)
		}
	case sources, lazily:
		r.sources(s)
	case styled, painted:
		if s.use == styled || strings.Contains(s.text, "url(") {
			quote := byte('\'')
			if s.at.quote == quote {
				quote = '"'
			}
			p := patch{in: []byte(s.text)}
			r.style(&p, 0, len(p.in), sheet{quote: quote, decode: asItIs})
			s.set(string(p.text()))
		}
	case inner:
		s.set(r.inner(s.text))
	}
}

// reference rewrites an attribute that is one reference.
func (r *referrer) reference(t *tag, s *said) {
	u := s.use
	if t.element == "link" {
		if u = linkUse(t.value("rel")); u == online {
			if l := r.online(s.text); !l.kept {
				s.set(l.to)
			}
			return
		}
	}
	away := r.away
	l := r.refer(s.text)
	switch {
	case l.kept:
	case u == lazy && !l.here:
		r.away = away
	default:
		s.here = l.here
		s.set(l.to)
		if u == need && !l.here {
			r.needs++
		}
	}
}

// linkUse is what the href of a link element is for, by its rel.
func linkUse(rel string) use {
	for word := range strings.FieldsSeq(strings.ToLower(rel)) {
		switch word {
		case "canonical", "preconnect", "dns-prefetch", "shortlink", "pingback":
			return online
		case "stylesheet", "icon", "apple-touch-icon", "mask-icon", "preload", "modulepreload", "manifest":
			return need
		}
	}
	return link
}

// meta takes away what forbids to load files, and rewrites where a refresh leads.
func (r *referrer) meta(t *tag) {
	switch strings.ToLower(strings.TrimSpace(t.value("http-equiv"))) {
	case "content-security-policy", "content-security-policy-report-only", "x-content-security-policy", "x-webkit-csp":
		t.drop = map[string]bool{"http-equiv": true}
	case "refresh":
		content := t.find("content")
		if content == nil {
			return
		}
		delay, ref, ok := extract.ParseRefresh(content.text)
		if !ok || ref == "" {
			return
		}
		if l := r.refer(ref); !l.kept {
			content.set(strconv.FormatInt(int64(delay/time.Second), 10) + "; url=" + l.to)
		}
	}
}

// sources rewrites a srcset.
func (r *referrer) sources(s *said) {
	p := patch{in: []byte(s.text)}
	for _, c := range extract.Srcset(s.text) {
		text := s.text[c.Start:c.End]
		away := r.away
		switch l := r.refer(text); {
		case l.kept:
		case s.use == lazily && !l.here:
			r.away = away
		default:
			s.here = s.here || l.here
			if !l.here {
				r.needs++
			}
			p.replace(c.Start, c.End, strings.ReplaceAll(l.to, ",", "%2C"))
		}
	}
	s.set(string(p.text()))
}
