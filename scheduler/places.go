package scheduler

import (
	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// place is what is remembered of a page from one look at it to the next: what its URL says, and its groups.
type place struct {
	url   string
	names changerate.Names
	at    changerate.Place
}

// placesKept is of how many pages that is remembered. Half of it is the most for a single host: of one that is larger a
// walk would only drive out what the walk before remembered.
const placesKept = 1 << 16

// place is that of a page; the caller holds mu. What is not remembered is read from the URL.
func (m *Mind) place(c *crowd, p *models.Page) *place {
	if known := c.places[p.ID]; known != nil && known.url == p.URL {
		return known
	}
	if len(c.places) >= placesKept/2 {
		m.aside = place{names: changerate.NamesOf(p.URL)}
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
	known := &place{url: p.URL, names: changerate.NamesOf(p.URL)}
	c.places[p.ID] = known
	m.placed++
	return known
}
