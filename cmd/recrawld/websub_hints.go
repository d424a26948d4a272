package main

import (
	"context"
	"errors"
	"hash/fnv"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/sitemap"
	"recrawld/scheduler"
)

const (
	pushedEntries = 1000 // of a push are read
	pushedNews    = 100  // pages that one tells of
	saidKept      = 256  // hashes of what a hub told that are kept, of more than two pushes, so that it is not believed twice
)

// Run makes hints of what hubs tell, one push after the other, until ctx ends.
func (w *websub) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case h := <-w.heard:
			outcome, err := w.hear(ctx, h)
			if err != nil && ctx.Err() == nil {
				w.log.Warn("nothing comes of what a hub told", "err", err)
			}
			w.counts.WithLabelValues(outcome).Inc()
		}
	}
}

// hear makes hints of one push: of the pages of its entries that its feed did not name so far, or named otherwise, and of the feed itself
// where that cannot be said. It is never content: visits find out what is so.
func (w *websub) hear(ctx context.Context, h waitingPush) (outcome string, err error) {
	defer func() {
		if p := recover(); p != nil { // some feed that our parser panics over
			w.log.Error("hearing a hub panicked", "panic", p, "stack", string(debug.Stack()))
			outcome, err = "failed", nil
		}
	}()
	now := w.clock.Now()
	s, err := w.store.Subscription(ctx, h.path)
	if err != nil || !w.wanted(&s, now) {
		if errors.Is(err, models.ErrNotFound) {
			err = nil
		}
		return "refused", err
	}
	page, err := w.store.Page(ctx, s.Bucket, s.PageID)
	if err != nil {
		return "failed", err
	}
	told, said, err := w.news(ctx, &page, &s, h.body, now)
	if err != nil {
		return "failed", err
	}
	outcome = "nothing_new"
	if len(told) > 0 {
		outcome = "hints"
		if err := w.hint(ctx, &s, told, now); err != nil {
			return "failed", err
		}
	}
	_, _, err = w.store.ChangeSubscription(ctx, h.path, func(s *models.Subscription) bool {
		s.PushedAt, s.Pushes = models.At(now), s.Pushes+1
		for _, one := range said {
			if !slices.Contains(s.Said, one) {
				s.Said = append(s.Said, one)
			}
		}
		s.Said = s.Said[max(len(s.Said)-saidKept, 0):]
		return s.URL != ""
	})
	return outcome, err
}

// news are the pages that a push tells of, and hashes of what it says of them; of what it said before none. A body that is no feed, or cannot
// be held against the copy of its feed, tells of the feed.
func (w *websub) news(ctx context.Context, page *models.Page, s *models.Subscription, body []byte, now time.Time) (told []string, said []uint64, err error) {
	limits := sitemap.Limits{URLs: pushedEntries, Bytes: sitemap.MaxBytes}
	pushed, readErr := sitemap.ReadFeed(body, limits)
	copied, _, held, err := w.held(ctx, page)
	if err != nil {
		w.log.Warn("the copy of a feed cannot be read", "page", page.URL, "err", err)
		held = false
	}
	before, heldErr := sitemap.ReadFeed(copied, limits)
	if readErr != nil && len(pushed.URLs) == 0 || !held || heldErr != nil && len(before.URLs) == 0 {
		if sum := hashOf(string(body)); !slices.Contains(s.Said, sum) {
			return []string{page.URL}, []uint64{sum}, nil
		}
		return nil, nil, nil
	}
	sayings := make(map[string]string)
	for _, e := range pushed.URLs {
		sayings[e.Loc] += e.LastMod.Format(time.RFC3339) + " " + strconv.FormatUint(e.Mark, 16) + "\n"
	}
	news := sitemap.Compare(before, pushed, now).Told
	for _, one := range news[:min(len(news), pushedNews)] { // of a push that is told again the rest is no more believed than before
		sum := hashOf(one.Loc + "\n" + sayings[one.Loc])
		if !slices.Contains(s.Said, sum) {
			told, said = append(told, one.Loc), append(said, sum)
		}
	}
	return told, said, nil
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// hint says of pages in the scope of the subscription's site what a publisher says by IndexNow: those that are known on the feed's own host, as
// of any list, are visited as far as he is believed, and those that are not known are found.
func (w *websub) hint(ctx context.Context, s *models.Subscription, told []string, now time.Time) error {
	site, feed, ok := w.inScope(s)
	if !ok || w.force().paused(s.SiteID) {
		return nil
	}
	known := models.Announcement{Bucket: s.Bucket, HostID: models.HostID(feed.HostName()), SiteID: s.SiteID}
	var found []models.Discovery
	for _, raw := range told {
		u, err := canon.Parse(raw)
		if err != nil || !site.scope.Contains(u) {
			continue
		}
		p := scheduler.NewPage(u.String(), u.HostName(), s.SiteID, announcedLevel, site.site.Settings.FR)
		if u.HostName() == feed.HostName() {
			known.Pages = append(known.Pages, p.ID)
		}
		if p.DueAt = models.At(now); site.site.Settings.Lists == config.ListsPages && site.scope.Decide(u, announcedLevel).Keep {
			found = append(found, models.Discovery{Page: p, Host: u.HostName()})
		}
	}
	if len(known.Pages) > 0 {
		if _, err := w.store.Announce(ctx, now, known, scheduler.Announced); err != nil {
			return err
		}
	}
	w.force().weigh(found)
	_, err := w.store.AddPages(ctx, now, found, site.site.Settings.PagesPerHost)
	return err
}
