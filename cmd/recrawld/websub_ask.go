package main

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"time"

	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
)

const (
	hubsEvery = 10 * time.Second // in real time, hubs are asked, each at most once
	hubsAsked = 10               // of them at a time at most

	askAgain  = 10 * time.Minute // a hub that did not do what it was asked for is asked again, and then twice as late each time, up to
	askLatest = 24 * time.Hour   // this
	askLeave  = 3                // times at most that it is to tell no more; the lease ends by itself

	confirmWithin = 24 * time.Hour     // of being asked, a hub may ask back
	deniedFor     = 7 * 24 * time.Hour // a hub that denied is not asked again
	renewLeast    = 10 * time.Minute   // between two renewals, however short the lease
)

// followHubs asks those hubs whose turn it is. now is the daemon's.
func (w *websub) followHubs(ctx context.Context, now time.Time) error {
	all, err := w.store.Subscriptions(ctx)
	if err == nil {
		err = w.survey(ctx, all, now)
	}
	if err == nil {
		err = w.follow(ctx, all)
	}
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b models.Subscription) int { return cmp.Compare(a.NextAt, b.NextAt) }) // who waits longest comes first
	asked := make(map[string]bool)
	for i := range all {
		s := &all[i]
		mode := w.turnOf(s, now)
		host := hostName(s.Hub)
		switch {
		case mode == forget:
			err = w.store.ForgetSubscription(ctx, s)
		case mode != "" && len(asked) < hubsAsked && !asked[host]:
			asked[host] = true
			err = w.askFor(ctx, s, mode, now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func hostName(raw string) string {
	u, err := canon.Parse(raw)
	if err != nil {
		return raw
	}
	return u.HostName()
}

// survey takes note of what there is, and of each since when its site is paused and whether its feed has another hub by now, which it writes.
func (w *websub) survey(ctx context.Context, all []models.Subscription, now time.Time) error {
	known, sites, counts := make(map[int64]string), make(map[int32]int), make(map[string]int)
	force, newest := w.force(), make(map[int64]models.Instant)
	for i := range all {
		if s := &all[i]; w.current(s) {
			newest[s.PageID] = max(newest[s.PageID], s.FoundAt)
		}
	}
	for i := range all {
		s := &all[i]
		paused, left := force.paused(s.SiteID), s.Left || s.FoundAt < newest[s.PageID]
		if paused != (s.PausedAt != 0) || left != s.Left {
			changed, is, err := w.store.ChangeSubscription(ctx, s.Path, func(s *models.Subscription) bool {
				if s.Left = left; !paused {
					s.PausedAt = 0
				} else if s.PausedAt == 0 {
					s.PausedAt = models.At(now)
				}
				return s.URL != ""
			})
			if err != nil {
				return err
			}
			if is {
				*s = changed
			}
		}
		if w.current(s) {
			known[s.PageID] = s.Path
			sites[s.SiteID]++
		}
		counts[subscriptionState(s, w.wanted(s, now), models.At(now))]++
	}
	for _, state := range subscriptionStates {
		w.states.WithLabelValues(state).Set(float64(counts[state]))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known, w.sites = known, sites
	return nil
}

// current tells whether a subscription is that of its feed at the callback that is in force.
func (w *websub) current(s *models.Subscription) bool {
	return !s.Left && s.Callback == w.force().config.WebSub.Callback
}

// follow begins anew with the hubs that know another callback than is in force now.
func (w *websub) follow(ctx context.Context, all []models.Subscription) error {
	force := w.force()
	if !w.wants() {
		return nil
	}
	for i := range all {
		s := &all[i]
		w.mu.Lock()
		has := w.known[s.PageID] != ""
		w.mu.Unlock()
		if _, there := force.sites[s.SiteID]; has || s.Left || !there || w.current(s) {
			continue
		}
		hub := models.Hub{URL: s.Hub, Topic: s.Topic, Inside: s.Inside}
		path, err := w.pathOf(ctx, force.config.WebSub.Callback, s.PageID, &hub)
		if err == nil {
			err = w.note(ctx, &models.Page{SiteID: s.SiteID, Bucket: s.Bucket, ID: s.PageID, URL: s.URL}, &hub, "", path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forget is the turn of a subscription of which nobody needs to know any more; the others are those of models.
const forget = "forget"

// turnOf says what is to be done about a subscription now; "": nothing.
func (w *websub) turnOf(s *models.Subscription, now time.Time) string {
	at := models.At(now)
	if w.wanted(s, now) {
		// A turn that is too far ahead may be of a longer lease, too.
		most := w.clock.Real(max(deniedFor, w.force().config.WebSub.Lease) + hubsEvery)
		if s.NextAt <= at || tooFarAhead(s.NextAt, now, most) {
			return models.Subscribing
		}
		return ""
	}
	leaving := s.Mode == models.Unsubscribing
	switch {
	case s.AskedAt == 0, leaving && s.Until == 0 && s.DeniedAt == 0, s.DeniedAt != 0, leaving && s.Asked >= askLeave && s.NextAt <= at:
		return forget
	case !leaving && s.Until <= at && now.Sub(s.AskedAt.Time()) > w.clock.Real(confirmWithin): // it never agreed, or its lease is over
		return forget
	case !leaving || s.NextAt <= at:
		return models.Unsubscribing
	}
	return ""
}

// askFor asks a hub, unless another worker does so this moment. That it is asked is written first: it may ask back at once.
func (w *websub) askFor(ctx context.Context, s *models.Subscription, mode string, now time.Time) error {
	if gone, err := w.feedGone(ctx, s, mode); err != nil || gone {
		return err
	}
	secret, err := w.secretOf(ctx, s.Path)
	if err != nil {
		return err
	}
	was := *s
	one, mine, err := w.store.ChangeSubscription(ctx, s.Path, func(s *models.Subscription) bool {
		if s.AskedAt != was.AskedAt || s.NextAt != was.NextAt || s.Mode != was.Mode || s.URL == "" {
			return false
		}
		if s.Mode != mode {
			s.Asked = 0
		}
		s.Mode, s.AskedAt, s.Asked = mode, models.At(now), s.Asked+1
		s.NextAt = models.At(now.Add(w.clock.Real(askWait(s.Path, s.Asked))))
		return true
	})
	if err != nil || !mine {
		return err
	}
	form := url.Values{"hub.mode": {mode}, "hub.topic": {s.Topic}, "hub.callback": {s.Callback + s.Path}}
	if mode == models.Subscribing {
		form.Set("hub.secret", secret)
		form.Set("hub.lease_seconds", strconv.FormatInt(int64(w.force().config.WebSub.Lease/time.Second), 10))
	}
	err = w.ask(ctx, s.Hub, s.Inside, form)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return w.answered(ctx, &one, err, now)
}

// feedGone tells whether the feed of a subscription that would be renewed went; it is left then.
func (w *websub) feedGone(ctx context.Context, s *models.Subscription, mode string) (bool, error) {
	if mode != models.Subscribing {
		return false, nil
	}
	page, err := w.store.Page(ctx, s.Bucket, s.PageID)
	switch {
	case errors.Is(err, models.ErrNotFound):
	case err != nil:
		return false, err
	case page.SiteID == s.SiteID && page.State != models.StateGone && page.State != models.StateExcluded:
		return false, nil
	}
	_, _, err = w.store.ChangeSubscription(ctx, s.Path, func(s *models.Subscription) bool {
		s.Left = true
		return s.URL != ""
	})
	return true, err
}

// answered writes what a hub answered.
func (w *websub) answered(ctx context.Context, asked *models.Subscription, answer error, now time.Time) error {
	if answer == nil {
		w.log.Debug("a hub is asked", "hub", asked.Hub, "feed", asked.URL, "mode", asked.Mode)
		return nil
	}
	w.log.Info("a hub does not take what it is asked for", "hub", asked.Hub, "feed", asked.URL, "mode", asked.Mode, "err", answer)
	_, _, err := w.store.ChangeSubscription(ctx, asked.Path, func(s *models.Subscription) bool {
		if s.AskedAt != asked.AskedAt || s.Asked == 0 { // it has asked back all the same
			return false
		}
		s.Error = answer.Error()
		if refused, ok := errors.AsType[*recrawl.HubError](answer); ok && refused.After > 0 {
			s.NextAt = max(s.NextAt, models.At(now.Add(w.clock.Real(refused.After))))
		}
		return true
	})
	return err
}

// askWait is how long to wait after asking so many times in a row: between three quarters and all of a time that doubles with each, for each
// path another, so that hubs are not asked for many feeds at once.
func askWait(path string, asked int) time.Duration {
	most := askLatest
	if asked < 9 { // the next would be more than that
		most = min(askAgain<<(max(asked, 1)-1), askLatest)
	}
	return most - varied(path, asked, most/4)
}

// varied is between nothing and so much, as a path and a number have it.
func varied(path string, n int, most time.Duration) time.Duration {
	h := fnv.New64a()
	h.Write([]byte(path + strconv.Itoa(n)))
	return time.Duration(h.Sum64() % uint64(max(most, 1)))
}
