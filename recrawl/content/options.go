package content

import "strings"

// option takes an address as the value of an option, of another page, for a link: it is an entry of a menu that is folded up, which a script follows.
// Of this page it chooses what is told there, such as a size.
func (r *reader) option(value string) {
	for _, begin := range []string{"/", "./", "../", "https://", "http://"} {
		if !strings.HasPrefix(value, begin) {
			continue
		}
		if l := r.link(value); l.Target != "#" && l.Target != r.link(r.at.String()).Target {
			r.links = append(r.links, l)
		}
		return
	}
}

// entries are the addresses that the options in the main content lead to.
func (v *View) entries() map[string]bool {
	var all map[string]bool
	for i := range v.blocks {
		if b := &v.blocks[i]; v.entry(b) {
			if all == nil {
				all = map[string]bool{}
			}
			all[b.Links[0].Whole] = true
		}
	}
	return all
}

// entry tells an option that leads to another page, in the main content.
func (v *View) entry(b *Block) bool {
	return b.entry && b.node >= v.main && b.node < v.nodes[v.main].end
}

// entryText is what an entry says that both views hold: which pages a menu leads to is no content, but what it says anew of one is, as a price.
// nil: no entry is in both.
func (c *Case) entryText() func(*View, *Block) (uint64, bool) {
	before, after := c.Before.entries(), c.After.entries()
	if before == nil || after == nil {
		return nil
	}
	return func(v *View, b *Block) (uint64, bool) {
		return b.hash(linkTarget), v.entry(b) && before[b.Links[0].Whole] && after[b.Links[0].Whole]
	}
}
