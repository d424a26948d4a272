package origin

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"time"
)

// indexPage is a start page that lists the host's pages as they stand: each that exists, with the day on which it was
// last revised. It is there from born on and changes when a page appears or is revised on another day.
func indexPage(h *Host, born time.Time) *Page {
	children := slices.Clone(h.Pages())
	times := []time.Time{born}
	for _, p := range children {
		for _, v := range p.Versions {
			times = append(times, v.At)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	page := &Page{Path: "/", Title: "All documents", Section: h.Label, Traits: Traits{Validator: ETag}}
	last := ""
	for _, at := range slices.Compact(times) {
		text := renderIndex(h.Label, children, at)
		if text == last {
			continue
		}
		last = text
		page.append(Version{At: at, Body: constant(text)})
	}
	return page
}

func renderIndex(label string, children []*Page, at time.Time) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><head><title>%[1]s: all documents</title></head>\n<body>\n"+
		"<h1>%[1]s: all documents</h1>\n<ul>\n", html.EscapeString(label))
	for _, p := range children {
		if i := p.Index(at); i >= 0 {
			fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a>, revised %s</li>\n", html.EscapeString(p.Path),
				html.EscapeString(p.Title), p.Versions[i].At.Format(time.DateOnly))
		}
	}
	b.WriteString("</ul>\n<p><a href=\"/private/drafts.html\">Drafts</a> are not for robots.</p>\n</body></html>\n")
	return b.String()
}
