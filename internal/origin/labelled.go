package origin

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
)

// Showing is how much a world gives away of what its labels say.
type Showing int

// The showings.
const (
	AsItWas    Showing = iota // every body, as the web page that it was
	BytesAlone                // every body, as bytes of no known kind: whoever asks can compare nothing else
	Told                      // only the bodies that the labels call other content, as bytes: whoever finds another one was told
)

// ClockPath is the page of a labelled world that shows the time and never changes otherwise.
const ClockPath = "/clock"

// Labelled makes a world of the labelled part of the corpus: each page up to its first version without a label, each host
// moved in time: what it began with is there at from, and its history goes on a while (lead) later. Its start page changes
// only when a page appears. For every body that the
// corpus left out the one before it is shown with another comment at its end. The first host has a page at ClockPath beside
// the others: the first of them with a line that shows the time, another one with every tick until the end.
func (c *Corpus) Labelled(show Showing, from, end time.Time, lead, tick time.Duration) (*World, error) {
	w := &World{}
	for _, h := range c.Hosts {
		host := NewHost(h.Label)
		for _, p := range h.Pages() {
			if p.Versions[0].Label == Unlabelled {
				continue
			}
			host.Add(&Page{Path: p.Path, Title: p.Title, Section: p.Section, Traits: traitsFor(p.Traits, show),
				Versions: shown(p.Versions, show)})
		}
		if len(host.order) == 0 {
			continue
		}
		alone := &World{Hosts: []*Host{host}}
		first, _ := alone.Span()
		alone.Shift(from.Add(lead).Sub(first))
		for _, p := range host.order {
			p.Versions[0].At = p.Versions[0].At.Add(-lead)
		}
		if len(w.Hosts) == 0 {
			page, err := clockPage(host.order[0], show, end, tick)
			if err != nil {
				return nil, err
			}
			host.Add(page)
		}
		host.Add(startPage(host))
		w.Hosts = append(w.Hosts, host)
	}
	return w, nil
}

// traitsFor are a page's manners without promises, which would put visits off, whatever is shown.
func traitsFor(t Traits, show Showing) Traits {
	t.MaxAge = 0
	if show != AsItWas {
		t.ContentType = "application/octet-stream"
	}
	return t
}

// shown lists the versions with a label that are shown.
func shown(all []Version, show Showing) (list []Version) {
	for i, v := range all {
		switch {
		case v.Label == Unlabelled:
			return list
		case show != Told:
			if i > 0 {
				list = append(list, standIns(all[i-1], v)...)
			}
		case v.Label != Meaningful:
			continue
		}
		list = append(list, v)
	}
	return list
}

// standIns are what is shown in place of the bodies that were left out between two versions, evenly in time.
func standIns(before, next Version) []Version {
	var list []Version
	gap := next.At.Sub(before.At) / time.Duration(next.Skipped+1)
	for i := 1; i <= next.Skipped && gap >= time.Second; i++ {
		list = append(list, Version{At: before.At.Add(time.Duration(i) * gap).Truncate(time.Second), Label: OtherBytes,
			Body: func() ([]byte, error) {
				body, err := before.Body()
				return fmt.Appendf(body, "<!-- %d -->\n", i), err
			}})
	}
	return list
}

// clockPage is a page with the time of the day in its text.
func clockPage(like *Page, show Showing, end time.Time, tick time.Duration) (*Page, error) {
	body, err := like.Versions[0].Body()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", like.Path, err)
	}
	place := bytes.Index(body, []byte("</h1>"))
	if place < 0 {
		return nil, fmt.Errorf("%s has no heading to put a clock under", like.Path)
	}
	place += len("</h1>")
	p := &Page{Path: ClockPath, Title: "Clock", Section: like.Section, Traits: traitsFor(Traits{Validator: ETag}, show)}
	for at := like.Versions[0].At; at.Before(end); at = at.Add(tick) {
		line := at.UTC().Format("<p>It is Monday, 2 January 2006, 15:04:05 UTC</p>")
		label := OtherBytes
		if len(p.Versions) == 0 {
			label = Meaningful
		}
		p.append(Version{At: at, Label: label, Body: func() ([]byte, error) {
			return bytes.Join([][]byte{body[:place], []byte(line), body[place:]}, nil), nil
		}})
		if show == Told {
			break
		}
	}
	return p, nil
}

// startPage lists the pages of a host that exist, and nothing else that changes. It names the host: two hosts with documents of
// the same names would else have the same page, and be taken for duplicates.
func startPage(h *Host) *Page {
	page := &Page{Path: "/", Title: "All documents", Section: h.Label, Traits: Traits{Validator: ETag}}
	children := slices.Clone(h.order)
	slices.SortStableFunc(children, func(a, b *Page) int { return a.Versions[0].At.Compare(b.Versions[0].At) })
	var list strings.Builder
	for _, p := range children {
		fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(p.Path), html.EscapeString(p.Title))
		page.append(Version{At: p.Versions[0].At, Label: Meaningful, Body: constant("<!doctype html>\n<html lang=\"en\"><head><title>" +
			h.Label + "</title></head>\n<body>\n<h1>All documents of " + h.Label + "</h1>\n<ul>\n" + list.String() + "</ul>\n</body></html>\n")})
	}
	return page
}
