package scheduler

import (
	"context"
	"slices"
	"time"

	"recrawld/models"
)

// A duplicate is as fresh as the visit before, while the page that it is a duplicate of changes. So it follows that one: when that changes, goes or
// becomes a duplicate itself, those that were duplicates of it are visited, each once a day at most (followRest). Pages at two names, and those that are
// renamed without a redirect, cost a visit for each change. Of one page a few follow (models.TwinsPerKey); those of sites that have a
// page under as many URLs as somebody makes up wait for the ceiling.

// followRest is how long a duplicate is left alone after a visit though the page that it follows changes: a day, and under a budget twice the interval
// at which that visits all its pages alike. So duplicates have half of their share of a budget at most, and what they are duplicates of is
// not behind for them.
func (p *Planner) followRest(site int32) time.Duration {
	return max(24*time.Hour, 2*p.purses.term(site).even)
}

// followers is the key under which the duplicates of a page are filed.
func followers(url string) int64 { return models.PageID("duplicates of " + url) }

// followable tells whether a page was one that others may be duplicates of.
func (f *finished) followable() bool {
	return f.before.DuplicateOf == "" && (f.before.State == models.StateLive || f.before.State == models.StateMissing)
}

// unsettles tells whether what a visit found may concern the duplicates of its page: it changed, or is not there any more.
func (f *finished) unsettles() bool {
	state := f.result.Page.State
	return f.followable() && (f.outcome.Kind == models.Changed || state != models.StateLive && state != models.StateMissing)
}

// follow files the new duplicates of a batch under the pages that they follow, and brings those forward that follow pages which
// are not what they were: followed, or duplicates themselves.
func (c *committer) follow(ctx context.Context, t *twins, compared, followed []*finished) error {
	var keys []int64
	for _, f := range compared {
		p := &f.result.Page
		if p.DuplicateOf != "" {
			keys = append(keys, followers(p.DuplicateOf))
		}
		if p.DuplicateOf != "" && f.followable() && !slices.Contains(followed, f) {
			followed, keys = append(followed, f), append(keys, followers(p.URL))
		}
	}
	keys = slices.DeleteFunc(keys, func(key int64) bool { return t.byKey[key] != nil })
	if err := c.lookUp(ctx, t, keys); err != nil {
		return err
	}
	for _, f := range compared {
		if f.result.Page.DuplicateOf != "" {
			t.file(f, filed(&f.result.Page), nil) // again, too: programs before this one did not
		}
	}
	for _, f := range followed {
		t.hasten(f)
	}
	return nil
}

// hasten brings the duplicates of a visit's page forward. Filings of others are marked to be removed, and those of duplicates that are gone,
// moved or excluded: there is room for few, and one that is back is filed again.
func (t *twins) hasten(f *finished) {
	key := followers(f.before.URL)
	for _, twin := range t.byKey[key] {
		_, visited := t.batch[pageKey{twin.Bucket, twin.ID}]
		switch {
		case visited:
		case twin.DuplicateOf == f.before.URL && (twin.State == models.StateLive || twin.State == models.StateMissing):
			due := max(f.result.Visit.At, models.At(twin.VisitedAt.Time().Add(f.planner.followRest(twin.SiteID))))
			f.result.Duplicates = append(f.result.Duplicates, models.Duplicate{Bucket: twin.Bucket, PageID: twin.ID, DueAt: due})
		default:
			f.result.Unfiled = append(f.result.Unfiled, models.Filing{Key: key, PageBucket: twin.Bucket, PageID: twin.ID})
		}
	}
}
