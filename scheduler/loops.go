package scheduler

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"recrawld/models"
)

// A page that redirects has moved only if the way ends somewhere. Where it comes back to where it was, or never ends, no reader sees anything: that
// is a fault of the server, and the copies of its pages are the last ones that there are. A page knows the way to it (models.Page.Chain) where
// it was found by that; pages that were known before, each by itself, are looked up.

// mostHops is how many redirects in a row may lead to a page.
const mostHops = 10

// ledNowhere tells of a page's failures whether its last visit found a redirect that leads nowhere.
func ledNowhere(failures int32, class models.ErrorClass) bool {
	return failures > 0 && (class == models.RedirectLoop || class == models.RedirectTooMany)
}

// stillNowhere tells whether the page redirects, as it did when that led nowhere: whether it does now the committer will tell, and until then it
// teaches nothing.
func (d *draft) stillNowhere() bool {
	return d.out.Kind == models.Moved && ledNowhere(d.before.Failures, d.before.Class)
}

// ways are where pages are, as they are looked up.
type ways struct {
	known map[models.PageKey]models.Whereabouts
	asked map[models.PageKey]bool
}

// way is that of one redirect, as far as it is known.
type way struct {
	visit *finished
	next  models.PageKey // what it leads to
	past  []models.Whereabouts
	why   string            // it ends nowhere; "": it may end somewhere
	class models.ErrorClass // likewise
	done  bool
}

// keyOfURL names the page of a canonical URL.
func keyOfURL(url string) models.PageKey {
	_, host, _ := strings.Cut(url, "://")
	host, _, _ = strings.Cut(host, "/")
	return models.PageKey{Bucket: models.BucketOf(host), ID: models.PageID(url)}
}

// endLoops makes failures of the redirects of a batch that lead nowhere.
func (c *committer) endLoops(ctx context.Context, batch []*finished) error {
	var open []*way
	for _, f := range batch {
		if f.outcome.Kind == models.Moved {
			open = append(open, &way{visit: f, next: keyOfURL(f.outcome.RedirectTo)})
		}
	}
	if len(open) == 0 {
		return nil
	}
	w := &ways{known: make(map[models.PageKey]models.Whereabouts), asked: make(map[models.PageKey]bool)}
	for _, f := range batch {
		at := f.result.Page.Whereabouts()
		w.known[at.PageKey], w.asked[at.PageKey] = at, true
	}
	for all := open; len(open) > 0; {
		if err := c.lookAhead(ctx, w, open); err != nil {
			return err
		}
		for _, one := range open {
			one.step(w)
		}
		if open = slices.DeleteFunc(slices.Clone(open), func(one *way) bool { return one.done }); len(open) == 0 {
			for _, one := range all {
				one.end(c)
			}
		}
	}
	return nil
}

// lookAhead looks up where what some ways lead to is.
func (c *committer) lookAhead(ctx context.Context, w *ways, open []*way) error {
	var keys []models.PageKey
	for _, one := range open {
		if !w.asked[one.next] {
			w.asked[one.next] = true
			keys = append(keys, one.next)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return c.ask(ctx, fmt.Sprintf("look up where %d pages are", len(keys)), func() error {
		found, err := c.store.Whereabouts(ctx, keys)
		for key, at := range found {
			w.known[key] = at
		}
		return err
	})
}

// step goes on by one page.
func (one *way) step(w *ways) {
	own := models.PageKey{Bucket: one.visit.before.Bucket, ID: one.visit.before.ID}
	at, known := w.known[one.next]
	met := one.next == own || slices.ContainsFunc(one.past, func(p models.Whereabouts) bool { return p.PageKey == one.next })
	switch {
	case met:
		one.fails(models.RedirectLoop, "which leads back")
	case !known:
		one.done = true
	case ledNowhere(at.Failures, at.Class):
		one.past = append(one.past, at)
		one.fails(at.Class, "which leads nowhere")
	case at.RedirectTo == "" || at.State != models.StateMoved && at.State != models.StateMissing:
		one.done = true
	case len(one.past) == mostHops-1:
		one.fails(models.RedirectTooMany, "which leads on, and so on")
	default:
		one.past = append(one.past, at)
		one.next = keyOfURL(at.RedirectTo)
	}
}

func (one *way) fails(class models.ErrorClass, why string) {
	one.class, one.why, one.done = class, why, true
}

// end makes the visit a failure where its way ends nowhere. Those that counted as moved on the way are looked at again at once: each finds the same.
func (one *way) end(c *committer) {
	if one.why == "" {
		return
	}
	f := one.visit
	out := f.outcome
	f.replan(models.Outcome{Kind: models.Failed, Class: one.class, Detail: fmt.Sprintf("%d to %s, %s", out.Status, out.RedirectTo, one.why), At: out.At,
		Status: out.Status, Took: out.Took, Sent: out.Sent, WireBytes: out.WireBytes, HeadBytes: out.HeadBytes, Delay: out.Delay, RetryAfter: out.RetryAfter}, c.clock.Now())
	f.stay(one.past)
	if f.result.Page.Failures > failingAfter {
		return
	}
	for _, p := range one.past {
		if p.State == models.StateMoved {
			f.result.Duplicates = append(f.result.Duplicates, models.Duplicate{Bucket: p.Bucket, PageID: p.ID, DueAt: f.result.Visit.At, Led: true})
		}
	}
}

// withoutMove is what a page's visits showed before it moved, which was its last change. When the last of these was is taken from how often there was
// one.
func withoutMove(s models.ChangeStats) models.ChangeStats {
	since := int32(bits.TrailingZeros64(s.Bits)) + 1
	if s.Bits == 0 || s.Records <= since || s.Changes == 0 {
		return s
	}
	every := (s.VisitedAt - s.FirstAt) / models.Instant(s.Records-1)
	s.VisitedAt = max(s.ChangedAt-every, s.FirstAt)
	s.Records, s.Bits = s.Records-since, s.Bits>>since
	s.Changes, s.ChangedAt = s.Changes-1, 0
	if s.Changes > 0 {
		s.ChangedAt = max(s.VisitedAt-models.Instant(bits.TrailingZeros64(s.Bits))*every, s.FirstAt)
	}
	return s
}

// stay takes back that the page moved, where it never led anywhere: none of the pages on its way was there since.
func (f *finished) stay(past []models.Whereabouts) {
	p := &f.result.Page
	if f.before.State != models.StateMoved || f.before.Version == 0 || slices.ContainsFunc(past, func(at models.Whereabouts) bool {
		return at.State != models.StateMoved && at.VisitedAt > f.before.Stats.ChangedAt
	}) {
		return
	}
	p.State, p.RedirectTo, p.Stats = models.StateLive, "", withoutMove(p.Stats)
	d := draft{Result: &f.result, planner: f.planner, settings: f.planner.settings(p.SiteID), before: &f.before, out: &f.outcome, now: p.TriedAt.Time()}
	d.event(models.EventRestored)
}
