package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"recrawld/models"
	"recrawld/scheduler"
)

// Publishers say what they changed, at the moment they do.
type Publishers struct {
	Share float64        // of the changes and deaths of a trace that are announced, drawn by lot, 0–1
	Until models.Instant // from then on they are silent; 0: never
}

// publishing is the seed of what is announced.
const publishing dice = 4

// news is a change that is announced.
type news struct {
	at   models.Instant
	page int32
}

// news is all that is announced of a trace, the earliest first.
func (p Publishers) news(t *Trace) []news {
	var all []news
	for i := range t.Pages {
		l := &t.Pages[i]
		lots := publishing.fork(i)
		for _, at := range append(slices.Clone(l.Changes), l.Died) {
			if lots.uniform() < p.Share && at > 0 && at <= l.End(t) && (p.Until == 0 || at < p.Until) {
				all = append(all, news{at, int32(i)})
			}
		}
	}
	slices.SortFunc(all, func(a, b news) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.page, b.page)) })
	return all
}

// announce passes on what is announced by now, each host's together.
func (n *nursery) announce(ctx context.Context) error {
	now := n.Now()
	said := make(map[string]*models.Announcement)
	var hosts []string
	for len(n.news) > 0 && n.news[0].at <= models.At(now) {
		l := &n.trace.Pages[n.news[0].page]
		n.news = n.news[1:]
		if said[l.Host] == nil {
			said[l.Host] = &models.Announcement{Bucket: models.BucketOf(l.Host), HostID: models.HostID(l.Host)}
			hosts = append(hosts, l.Host)
		}
		said[l.Host].Pages = append(said[l.Host].Pages, models.PageID(l.URL))
	}
	for _, host := range hosts {
		if _, err := n.store.Announce(ctx, now, *said[host], scheduler.Announced); err != nil {
			return fmt.Errorf("announce pages of %s: %w", host, err)
		}
	}
	return nil
}
