package scheduler

import (
	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// place is what is remembered of a page from one look at it to the next: what its URL says, and its groups.
type place struct {
	url   string
	since models.Instant // when the page became known, by its names
	names changerate.Names
	at    changerate.Place
}

// placeOf is that of a page that is not remembered.
func placeOf(p *models.Page) place {
	return place{url: p.URL, since: p.Stats.FirstAt, names: changerate.NamesOf(p.URL).KnownAt(days(p.Stats.FirstAt))}
}

// placesKept is of how many pages that is remembered. Half of it is the most for a single host: of one that is larger a
// walk would only drive out what the walk before remembered.
const placesKept = 1 << 16

// place is that of a page; the caller holds mu. What is not remembered is read from the URL.
func (m *Mind) place(c *crowd, p *models.Page) *place {
	known := c.places[p.ID]
	if known != nil && known.url == p.URL && known.since == p.Stats.FirstAt {
		return known
	}
	if known == nil {
		known = m.placeFor(c, p.ID)
	}
	*known = placeOf(p)
	return known
}

// placeFor is room for the place of a page of which nothing is remembered, or for one that will not be.
func (m *Mind) placeFor(c *crowd, page int64) *place {
	if len(c.places) >= placesKept/2 {
		return &m.aside
	}
	if m.placed >= placesKept {
		for _, other := range m.crowds {
			other.places = nil
		}
		m.placed = 0
	}
	if c.places == nil {
		c.places = make(map[int64]*place)
	}
	known := new(place)
	c.places[page] = known
	m.placed++
	return known
}
