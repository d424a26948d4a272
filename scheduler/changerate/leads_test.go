package changerate

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// finds is what a visit found so many days after the one before, with pages of importance 1.
func finds(at, since float64, pages int) Finds {
	return Finds{At: at, Since: since, Pages: pages, Worth: float64(pages)}
}

// A page is known to lead to others once a visit after the first found a new one, or the first found many, and by how many a day its visits say.
func TestLeads(t *testing.T) {
	t.Parallel()
	var c Crowd
	leads := func(page int64) float64 { perDay, _, _ := c.Leads(page); return perDay }
	c.Led(1, finds(1, 0, ledAtFirst-1))
	c.Led(2, finds(1, 10, 0))
	if leads(1) != 0 || leads(2) != 0 || c.leads != nil {
		t.Errorf("pages that led nowhere lead to %v and %v", leads(1), leads(2))
	}
	c.Led(1, finds(1, 0, ledAtFirst))
	if got := leads(1); got != leadShape/leadDays {
		t.Errorf("a first visit that found many says %v a day, want the prior", got)
	}
	for i := range 200 {
		c.Led(2, Finds{At: float64(i), Since: 1, Pages: 2, Worth: 6})
		c.Led(3, finds(float64(i), 10, 1000))
	}
	if got, worth, _ := c.Leads(2); math.Abs(got-2) > 0.2 || math.Abs(worth-3*got) > 0.01 {
		t.Errorf("two new pages a day of importance 3 are taken for %v, worth %v", got, worth)
	}
	if got := leads(3); math.Abs(got-mostLed/10.0) > 0.2 {
		t.Errorf("a thousand every ten days are taken for %v a day, want what counts of them", got)
	}
	for i := range 20 {
		c.Led(2, finds(float64(200+30*i), 30, 0))
	}
	if got := leads(2); got != 0 {
		t.Errorf("a page that led nowhere for 600 days leads to %v a day", got)
	}
	c.Led(4, finds(1, math.NaN(), 1))
	c.Led(5, Finds{At: math.NaN(), Since: math.Inf(1), Pages: 1, Worth: math.NaN()})
	c.Led(6, finds(1, 1, -5))
	for page := range int64(7) {
		if got, worth, _ := c.Leads(page); !(got >= 0 && worth >= 0 && got+worth < 1e9) {
			t.Errorf("page %d leads to %v, worth %v", page, got, worth)
		}
	}
}

// What a page names that visits find as many at, however soon, is told from what comes with the days: also where this comes in bursts, or a visit shows no more
// than so many. The former alone ask for a part of the budget, of their site.
func TestLeadsByVisitAreToldFromThoseByDay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		found   func(rng *rand.Rand, days float64) int
		byVisit bool
	}{
		"five a visit":      {func(*rand.Rand, float64) int { return 5 }, true},
		"thirty a visit":    {func(*rand.Rand, float64) int { return 30 }, true},
		"some a visit":      {func(rng *rand.Rand, _ float64) int { return rng.IntN(4) + rng.IntN(4) + rng.IntN(4) }, true},
		"two a day":         {func(rng *rand.Rand, days float64) int { return poisson(rng, 2*days) }, false},
		"one in three days": {func(rng *rand.Rand, days float64) int { return poisson(rng, days/3) }, false},
		"six a week":        {func(rng *rand.Rand, days float64) int { return 6 * poisson(rng, days/7) }, false},
		"five a day of 20":  {func(rng *rand.Rand, days float64) int { return min(poisson(rng, 5*days), 20) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			wrong := 0
			for page := range int64(40) {
				var c Crowd
				at := 100.0
				for range 60 {
					days := 4 * (0.5 + rng.Float64())
					at += days
					pages := test.found(rng, days)
					c.Led(page, Finds{At: at, Since: days, Pages: pages, Worth: float64(pages), Site: 3})
				}
				if _, _, byVisit := c.Leads(page); byVisit != test.byVisit || (c.LeadsAsk()[3] > 0) != byVisit {
					wrong++
				}
			}
			if wrong > 8 {
				t.Errorf("%d of 40 pages are taken for what they are not", wrong)
			}
		})
	}
}

// poisson draws a Poisson count (Knuth, The Art of Computer Programming, volume 2, section 3.4.1).
func poisson(rng *rand.Rand, mean float64) (n int) {
	for p := rng.Float64(); p > math.Exp(-mean); p *= rng.Float64() {
		n++
	}
	return n
}

// Pages that are not visited any more, by the intervals between their visits so far, give their places away to those that are, and ask for nothing: with the places
// full of them a page that leads to one a day was never known.
func TestLeadsThatAreNotVisitedGiveTheirPlacesAway(t *testing.T) {
	t.Parallel()
	var c Crowd
	for page := range int64(mostLeads) {
		c.Led(page, finds(100, 1, 16))
		c.Led(page, finds(101, 1, 16))
		c.Led(page, finds(101.3, 0.3, 16))
	}
	asked := c.LeadsAsk()[0]
	for day := range 400 {
		c.Led(1000, finds(102+float64(day), 1, 1))
	}
	if got, _, _ := c.Leads(1000); math.Abs(got-1) > 0.2 {
		t.Errorf("a page that leads to one a day is taken for %v", got)
	}
	if got := c.LeadsAsk()[0]; !(asked > 0) || got > asked/20 {
		t.Errorf("the host's pages ask for %v visits, want hardly any of the %v of before", got, asked)
	}
}

// Of a host the pages that lead to the most are known, and are read as they were written; knowledge of before has none.
func TestLeadsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	var c, read Crowd
	older, _ := c.MarshalBinary()
	for page := range int64(3 * mostLeads) {
		c.Led(page-mostLeads, Finds{At: float64(page), Since: 1, Pages: 3, Worth: 6, Site: 7})
		c.Led(page-mostLeads, Finds{At: float64(page), Since: 1 + float64(page%100), Pages: 3, Worth: 6, Site: 7})
	}
	if len(c.leads) != mostLeads {
		t.Fatalf("%d pages are known to lead to others, want %d", len(c.leads), mostLeads)
	}
	stored, _ := c.MarshalBinary()
	if err := read.UnmarshalBinary(stored); err != nil || len(read.leads) != mostLeads || len(stored)-len(older) != 36*mostLeads {
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
	once := append(slices.Concat([]byte{onceForm}, older[1:len(older)-1]), 1, 7, 0, 0, 0, 0, 0, 0, 0)
	once = binary.LittleEndian.AppendUint32(once, math.Float32bits(3))
	once = binary.LittleEndian.AppendUint32(once, math.Float32bits(6))
	if err := read.UnmarshalBinary(once); err != nil || len(read.leads) != 1 || read.leads[7] != (lead{found: 3, worth: 3, days: 6, visits: 3}) {
		t.Errorf("of a crowd that does not know how many visits found them %v is read, %v", read.leads, err)
	}
	older[len(older)-1] = mostLeads + 1
	if err := read.UnmarshalBinary(older); !errors.Is(err, errCorrupt) {
		t.Errorf("more than there may be are read: %v", err)
	}
}
