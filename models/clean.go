package models

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Clean makes text fit for every engine: valid UTF-8 without NUL, which PostgreSQL refuses.
func Clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Finite is x where every engine can keep it as a 32-bit number, and 0 where it is not a number or out of range.
func Finite(x float64) float64 {
	if math.IsNaN(x) || math.Abs(x) > math.MaxFloat32 {
		return 0
	}
	return x
}

// Clean makes the text and the numbers of the row fit for every engine, as a store on a database does.
func (p *Page) Clean() {
	cleanAll(&p.URL, &p.Note, &p.RedirectTo, &p.ETag, &p.LastModified, &p.ContentType, &p.Canonical, &p.DuplicateOf)
	for _, x := range []*float32{&p.Evidence.Changes, &p.Evidence.Days, &p.Importance} {
		*x = float32(Finite(float64(*x)))
	}
}

// Clean is Page.Clean for robots.txt; no body and an empty one are the same.
func (r *Robots) Clean() {
	cleanAll(&r.Origin, &r.LeadsTo)
	if len(r.Body) == 0 {
		r.Body = nil
	}
}

// Clean is Page.Clean for a version.
func (v *Version) Clean() {
	cleanAll(&v.ContentType, &v.ETag, &v.LastModified, &v.Record.File)
	v.Significance = float32(Finite(float64(v.Significance)))
}

// Clean is Page.Clean for a first record.
func (c *Content) Clean() { cleanAll(&c.Record.File, &c.URL) }

// Clean is Page.Clean for an event.
func (e *Event) Clean() {
	cleanAll(&e.URL, &e.ContentType, &e.LastModified, &e.RedirectTo, &e.Note, &e.Record.File)
	e.Significance = float32(Finite(float64(e.Significance)))
}

func cleanAll(texts ...*string) {
	for _, text := range texts {
		*text = Clean(*text)
	}
}
