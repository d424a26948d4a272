package content

import (
	"time"

	"recrawld/models"
)

// standOlder is how long an older copy must be seen before it is taken for what the page says again: longer than caches and servers that are
// behind others need to come along, most days.
const standOlder = 12 * time.Hour

// older tells the answer of a cache, or of a server, that is behind the one that answered before: what the page said earlier, which says by
// its own date that it is older than the copy. Taken for news it would be a change each time that another one answers. Whoever goes back to
// an earlier text gives it a new date; where he does not, that text stays, and is taken for the page then.
func (c *Case) older() (Verdict, bool) {
	if print := c.After.mainHash(); !c.Earlier || c.Kept || print == c.Before.mainHash() || c.Page.times(print) != 1 {
		return Verdict{}, false
	}
	if c.Good {
		c.Page.good()
	}
	r := &c.Page.absent
	r.add(c.After.look(), false, c.Now.Unix(), unixOf(c.Due))
	left := standOlder - time.Duration(r.stood)*time.Second
	if left <= 0 && r.alike >= enoughAlike {
		return Verdict{}, false
	}
	return Verdict{Kind: Transient, Class: models.OlderCopy, Own: true, Reasons: models.ReasonFlipBack, Since: time.Unix(r.since, 0).UTC(),
		Becomes: Change, Until: c.Now.Add(max(left, 0)).Truncate(time.Second)}, true
}

// times is in how many stretches a print is among the last good views: more than one, and the page takes turns, which is no cache's doing.
func (m *PageMemory) times(print uint64) int {
	n := 0
	for i, one := range m.recent {
		if one == print && (i == 0 || m.recent[i-1] != print) {
			n++
		}
	}
	return n
}
