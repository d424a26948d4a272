package changerate

// Rewind brings back the times of what was learned by a clock that was ahead. back turns a time in days since 1970 into one that
// is not after now, and leaves one alone that has passed. Of calendars that began in the past, the changes of days to come are
// forgotten: where they belong is not known.
func (c *Crowd) Rewind(now float64, back func(float64) float64) {
	ahead := c.begin > now
	c.begin = back(c.begin)
	bin := bins
	if c.begin > 0 && !ahead {
		bin = int(bounded((now-c.begin)/c.width, 0, bins)) + 1
		c.days = min(c.days, max(1, c.met)*(now-c.begin))
	}
	c.filled = min(c.filled, max(bin-1, 0))
	c.all.forget(bin)
	for _, g := range c.groups {
		g.usedAt = float32(back(float64(g.usedAt)))
		if g.heat != nil {
			g.heat.at, g.heat.looked = back(g.heat.at), 0
		}
		if g.news != nil {
			g.news.forget(bin)
		}
	}
}

// forget empties the bins from one on.
func (c *calendar) forget(from int) {
	clear(c.expected[min(from, bins):])
	clear(c.seen[min(from, bins):])
}
