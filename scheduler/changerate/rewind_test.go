package changerate

import (
	"testing"
)

// What was learned by a clock that ran years ahead fits into the time that there was, and goes on to be learned from.
func TestRewindBringsACrowdBack(t *testing.T) {
	t.Parallel()
	const now, ahead = 20_000.0, 21_500.0
	for name, from := range map[string]float64{"all of it ahead": ahead - 30, "some of it ahead": now - 30} {
		c := new(Crowd)
		var subjects [6]Subject
		for i := range subjects {
			subjects[i] = Subject{Names: NamesOf("https://a.example/news/" + string(rune('a'+i))), Bytes: 1000}
			c.Known(&subjects[i], from)
		}
		before := from
		for _, at := range []float64{from + 10, from + 20, ahead - 2, ahead - 1} {
			for i := range subjects {
				c.learn(&subjects[i].Names, sight{from: before, at: at, count: 1, changes: 1, expected: 1, chance: 0.5, turned: 1})
			}
			before = at
		}
		by := ahead - now
		c.Rewind(now, func(at float64) float64 {
			if at <= now {
				return at
			}
			return min(at-by, now)
		})
		if c.begin > now || c.days > 6*(now-c.begin)+1 && name == "some of it ahead" {
			t.Errorf("%s: begins at %v with %v page-days, now is %v", name, c.begin, c.days, now)
		}
		for _, g := range c.groups {
			if float64(g.usedAt) > now || g.heat != nil && g.heat.at > now {
				t.Errorf("%s: a group was used at %v, its heat is of %v", name, g.usedAt, g.heat.at)
			}
			if g.news != nil && g.news.expected[bins-1] > 0 {
				t.Errorf("%s: a calendar knows days to come", name)
			}
		}
		written, err := c.MarshalBinary()
		if read := new(Crowd); err != nil || read.UnmarshalBinary(written) != nil {
			t.Errorf("%s: what is brought back cannot be read", name)
		}
	}
}
