package changerate

import (
	"errors"
	"math"
	"testing"
)

// A page is known to lead to others once a visit after the first found a new one, or the first found many, and by how many a day its visits say.
func TestLeads(t *testing.T) {
	t.Parallel()
	var c Crowd
	c.Led(1, 0, ledAtFirst-1)
	c.Led(2, 10, 0)
	if c.Leads(1) != 0 || c.Leads(2) != 0 || c.leads != nil {
		t.Errorf("pages that led nowhere lead to %v and %v", c.Leads(1), c.Leads(2))
	}
	c.Led(1, 0, ledAtFirst)
	if got := c.Leads(1); got != leadShape/leadDays {
		t.Errorf("a first visit that found many says %v a day, want the prior", got)
	}
	for range 200 {
		c.Led(2, 1, 2)
		c.Led(3, 10, 1000)
	}
	if got := c.Leads(2); math.Abs(got-2) > 0.2 {
		t.Errorf("two new pages a day are taken for %v", got)
	}
	if got := c.Leads(3); math.Abs(got-mostLed/10.0) > 0.2 {
		t.Errorf("a thousand every ten days are taken for %v a day, want what counts of them", got)
	}
	for range 20 {
		c.Led(2, 30, 0)
	}
	if got := c.Leads(2); got != 0 {
		t.Errorf("a page that led nowhere for 600 days leads to %v a day", got)
	}
	c.Led(4, math.NaN(), 1)
	c.Led(5, math.Inf(1), 1)
	c.Led(6, 1, -5)
	for page := range int64(7) {
		if got := c.Leads(page); math.IsNaN(got) || got < 0 || math.IsInf(got, 0) {
			t.Errorf("page %d leads to %v", page, got)
		}
	}
}

// Of a host the pages that lead to the most are known, and are read as they were written; knowledge of before has none.
func TestLeadsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	var c, read Crowd
	older, _ := c.MarshalBinary()
	for page := range int64(3 * mostLeads) {
		c.Led(page-mostLeads, 1+float64(page%100), 3)
	}
	if len(c.leads) != mostLeads {
		t.Fatalf("%d pages are known to lead to others, want %d", len(c.leads), mostLeads)
	}
	stored, _ := c.MarshalBinary()
	if err := read.UnmarshalBinary(stored); err != nil || len(read.leads) != mostLeads || len(stored)-len(older) != 16*mostLeads {
		t.Fatalf("%d are read of %d bytes, %v", len(read.leads), len(stored)-len(older), err)
	}
	for page, l := range c.leads {
		if read.leads[page] != l {
			t.Errorf("page %d: %+v is read as %+v", page, l, read.leads[page])
		}
	}
	if err := read.UnmarshalBinary(append([]byte{leadlessForm}, older[1:len(older)-1]...)); err != nil || read.leads != nil {
		t.Errorf("of a crowd that does not know them %d are read, %v", len(read.leads), err)
	}
	older[len(older)-1] = mostLeads + 1
	if err := read.UnmarshalBinary(older); !errors.Is(err, errCorrupt) {
		t.Errorf("more than there may be are read: %v", err)
	}
}
