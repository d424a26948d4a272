package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"recrawld/models"
)

// Feeds tell the newest events of the last 30 days. Of each that is asked for it is remembered how far was looked, since feed readers ask
// again and again; each time some seconds' work is done at the most, so that a feed of what seldom happens is whole after a few times.
const (
	feedBack  = 30 * 24 * time.Hour
	feedLooks = 2_000_000 // events
	mostFeeds = 256       // remembered, some KB each
)

// recentFeeds are the feeds that were asked for of late. It is safe for concurrent use.
type recentFeeds struct {
	most int64 // events that are looked at for an answer

	mu    sync.Mutex
	known map[string]recentFeed // by what they ask for
}

type recentFeed struct {
	models.Recent
	askedAt time.Time
}

func newRecentFeeds(most int64) *recentFeeds {
	return &recentFeeds{most: most, known: map[string]recentFeed{}}
}

// newest are the newest events that a query asks for, in the last 30 days, and how far back was looked for them; 0: far enough.
func (f *recentFeeds) newest(ctx context.Context, b library, q models.ChangesQuery) ([]models.RecentEvent, models.Instant, error) {
	key := fmt.Sprint(q)
	q.Since = models.At(b.now.Add(-feedBack))
	feed := f.of(key)
	err := b.store.LookOn(ctx, b.now, q, &feed.Recent, f.most)
	feed.askedAt = b.now
	f.keep(key, feed) // whatever came in between, or the next who asks would begin where this did
	events, back := feed.Events(q)
	return events, back, err
}

func (f *recentFeeds) of(key string) recentFeed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known[key]
}

// keep remembers a feed, in place of the one that was not asked for for the longest time where there are too many.
func (f *recentFeeds) keep(key string, feed recentFeed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[key] = feed
	if len(f.known) <= mostFeeds {
		return
	}
	oldest := key
	for other, known := range f.known {
		if known.askedAt.Before(f.known[oldest].askedAt) {
			oldest = other
		}
	}
	delete(f.known, oldest)
}
