package extract

import "recrawld/recrawl/canon"

// refs are the references of a page as written, each once.
type refs struct {
	limit   int
	all     []ref
	seen    map[string]int    // index in all
	led     map[canon.URL]int // index in the links that they become
	row     []int             // those that stand in headings of the present row of a table
	dropped int
}

type ref struct {
	text     string
	noFollow bool
	read     bool // a reader can follow it: it stands in the page, and not in its head
	feed     bool // it is named as a feed, in the head
	heading  bool // it stands in the heading of a table's column
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
	*r = refs{limit: limit, all: r.all[:0], seen: r.seen, led: r.led, row: r.row[:0]}
}

// spare is how many times the wanted number of links is kept as references: several may spell one URL or lead nowhere.
const spare = 4

// fewest is how many references are kept however few links are wanted: they are what a page's links changed by.
const fewest = 1000

func (r *refs) add(added ref) {
	if len(added.text) > canon.MaxBytes {
		return
	}
	if i, ok := r.seen[added.text]; ok {
		r.all[i].noFollow = r.all[i].noFollow && added.noFollow
		r.all[i].read = r.all[i].read || added.read
		r.all[i].feed = r.all[i].feed && added.feed
		r.all[i].heading = r.all[i].heading && added.heading
		r.all[i].times++
		return
	}
	if len(r.all) >= max(spare*r.limit, fewest) {
		r.dropped++
		return
	}
	added.times = 1
	r.seen[added.text] = len(r.all)
	if added.heading {
		r.row = append(r.row, len(r.all))
	}
	r.all = append(r.all, added)
}

// alternate takes what a page names beside itself: a feed, a translation, or what has no type, such as its place on another host. What
// has the type of anything else is the page once more, in a form for other programs (HTML, 4.6.7.1): the JSON and the embedding of each post that
// WordPress names, a wiki's source and its form to edit it. Followed, most of what is known of such a site would be copies.
func (r *reader) alternate(attrs attributes) {
	feed := isFeedType(attrs.kind)
	if attrs.kind == "" || feed || attrs.hrefLang != "" {
		r.refs.add(ref{text: attrs.href, noFollow: hasWord(attrs.rel, "nofollow"), feed: feed})
	}
}

// isFeedType tells the types that feeds are named by; RSS 1.0 is RDF.
func isFeedType(contentType string) bool {
	switch mediaType(contentType) {
	case "application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml", "application/xml", "text/xml":
		return true
	}
	return false
}

// links turns references into links: those that lead to a page, each URL once, at most Options.Links of them. A link to
// the page itself is a link. On the way it takes the print of where they lead.
func (r *reader) links(base canon.URL) (links []Link, dropped int) {
	dropped = r.refs.dropped
	sameHost := base.HostName() == r.at.HostName()
	own, session := r.at.Session(), r.refs.session()
	links, seen := make([]Link, 0, min(len(r.refs.all), r.options.Links)), r.refs.led
	for _, ref := range r.refs.all {
		u := r.resolve(base, ref.text)
		if ref.read {
			r.print.add(u, ref.text, ref.times)
		}
		if u.IsZero() {
			continue
		}
		u = untracked(u, own, session)
		relative := sameHost && canon.IsRelativeRef(ref.text)
		order := ref.heading && IsOrder(u, r.at)
		if i, ok := seen[u]; ok {
			links[i].NoFollow = links[i].NoFollow && ref.noFollow
			links[i].Relative = links[i].Relative && relative
			links[i].Feed = links[i].Feed && ref.feed
			links[i].Order = links[i].Order && order
			continue
		}
		if len(links) >= r.options.Links {
			dropped++
			continue
		}
		seen[u] = len(links)
		links = append(links, Link{URL: u, Relative: relative, NoFollow: ref.noFollow, Feed: ref.feed, Order: order, Action: isAction(u)})
	}
	return links, dropped
}
