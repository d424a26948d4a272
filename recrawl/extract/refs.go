package extract

import "recrawld/recrawl/canon"

// refs are the references of a page as written, each once.
type refs struct {
	limit   int
	all     []ref
	seen    map[string]int    // index in all
	led     map[canon.URL]int // index in the links that they become
	dropped int
}

type ref struct {
	text     string
	noFollow bool
	read     bool // a reader can follow it: it stands in the page, and not in its head
	times    int  // how often it stands there
}

// begin makes them those of a page that has none so far.
func (r *refs) begin(limit int) {
	if r.seen == nil {
		r.seen, r.led = make(map[string]int), make(map[canon.URL]int)
	}
	clear(r.seen)
	clear(r.led)
	clear(r.all)
	*r = refs{limit: limit, all: r.all[:0], seen: r.seen, led: r.led}
}

// spare is how many times the wanted number of links is kept as references: several may spell one URL or lead nowhere.
const spare = 4

// fewest is how many references are kept however few links are wanted: they are what a page's links changed by.
const fewest = 1000

func (r *refs) add(text string, noFollow, read bool) {
	if len(text) > canon.MaxBytes {
		return
	}
	if i, ok := r.seen[text]; ok {
		r.all[i].noFollow = r.all[i].noFollow && noFollow
		r.all[i].read = r.all[i].read || read
		r.all[i].times++
		return
	}
	if len(r.all) >= max(spare*r.limit, fewest) {
		r.dropped++
		return
	}
	r.seen[text] = len(r.all)
	r.all = append(r.all, ref{text: text, noFollow: noFollow, read: read, times: 1})
}

// links turns references into links: those that lead to a page, each URL once, at most Options.Links of them. A link to
// the page itself is a link. On the way it takes the print of where they lead.
func (r *reader) links(base canon.URL) (links []Link, dropped int) {
	dropped = r.refs.dropped
	sameHost := base.HostName() == r.at.HostName()
	links, seen := make([]Link, 0, min(len(r.refs.all), r.options.Links)), r.refs.led
	for _, ref := range r.refs.all {
		u := r.resolve(base, ref.text)
		if ref.read {
			r.print.add(u, ref.text, ref.times)
		}
		if u.IsZero() {
			continue
		}
		relative := sameHost && canon.IsRelativeRef(ref.text)
		if i, ok := seen[u]; ok {
			links[i].NoFollow = links[i].NoFollow && ref.noFollow
			links[i].Relative = links[i].Relative && relative
			continue
		}
		if len(links) >= r.options.Links {
			dropped++
			continue
		}
		seen[u] = len(links)
		links = append(links, Link{URL: u, Relative: relative, NoFollow: ref.noFollow})
	}
	return links, dropped
}
