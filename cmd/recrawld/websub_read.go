package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/report"
)

// How it may stand with a subscription, in the words of the metric and of JSON.
const (
	hubVerified = "verified" // the hub tells
	hubAsked    = "asked"    // it has not said yet that it will
	hubFailing  = "failing"  // nor taken what it was asked for
	hubDenied   = "denied"
	hubLeaving  = "leaving" // it is to tell no more
)

var subscriptionStates = []string{hubVerified, hubAsked, hubFailing, hubDenied, hubLeaving}

// subscriptionState says how it stands with a subscription, which is wanted or not.
func subscriptionState(s *models.Subscription, wanted bool, now models.Instant) string {
	switch {
	case !wanted:
		return hubLeaving
	case s.DeniedAt != 0:
		return hubDenied
	case s.Verified(now):
		return hubVerified
	case s.Error != "" || s.Asked > 1 || s.Until != 0:
		return hubFailing
	}
	return hubAsked
}

// shownHub is the JSON form of a subscription.
type shownHub struct {
	Site   string     `json:"site"`
	Feed   string     `json:"feed"`
	Hub    string     `json:"hub"`
	Topic  string     `json:"topic"`
	State  string     `json:"state"`
	Until  *time.Time `json:"until"`   // the hub tells, unless it is renewed
	NextAt *time.Time `json:"next_at"` // it is asked again
	Pushed *time.Time `json:"pushed_at"`
	Pushes int64      `json:"pushes"`
	Forged int64      `json:"forged"` // not signed by the hub
	Error  string     `json:"error,omitempty"`
}

// hubs are the subscriptions, of one page or of all (0).
func (l *look) hubs(ctx context.Context, page int64) ([]shownHub, error) {
	all, err := l.store.Subscriptions(ctx)
	if err != nil {
		return nil, err
	}
	w := websub{websubParts: websubParts{force: func() *inForce { return l.force }}}
	shown, names := []shownHub{}, l.siteNames()
	for i := range all {
		s := &all[i]
		if page != 0 && s.PageID != page {
			continue
		}
		h := shownHub{Site: names[s.SiteID], Feed: s.URL, Hub: s.Hub, Topic: s.Topic, State: subscriptionState(s, w.wanted(s, l.now), models.At(l.now)),
			Until: when(s.Until), NextAt: when(s.NextAt), Pushed: when(s.PushedAt), Pushes: s.Pushes, Forged: s.Forged, Error: s.Error}
		if h.State == hubLeaving {
			h.NextAt = nil
		}
		shown = append(shown, h)
	}
	return shown, nil
}

// words say how it stands with a subscription.
func (h *shownHub) words(now time.Time, style report.Style) string {
	words := report.Printable(h.Hub)
	switch h.State {
	case hubVerified:
		words += style.Paint(report.Good, " tells what it says") + " until " + report.Moment(now, *h.Until)
	case hubAsked:
		words += " is asked to tell what it says, and has not agreed yet"
	case hubFailing:
		words += style.Paint(report.Warn, " does not tell what it says")
	case hubDenied:
		words += style.Paint(report.Warn, " does not want to tell what it says")
	case hubLeaving:
		words += " is to tell no more"
	}
	if h.Pushed != nil {
		words += fmt.Sprintf("; told %s, the last %s", report.Plural(h.Pushes, "time"), report.Until(now, *h.Pushed))
	}
	if h.Forged > 0 {
		words += fmt.Sprintf("; %s without its signature", report.Plural(h.Forged, "time"))
	}
	if h.Error != "" {
		words += "; " + report.Printable(h.Error)
	}
	if h.NextAt != nil && h.State != hubVerified {
		words += "; asked again " + report.Until(now, *h.NextAt)
	}
	return words
}

// statusHubs fills in the subscriptions.
func (l *look) statusHubs(ctx context.Context, s *status) (err error) {
	s.Hubs, err = l.hubs(ctx, 0)
	return err
}

// hubsTold is how many hubs a person is told of that do not tell.
const hubsTold = 5

// addHubs adds how many hubs tell, and a line for each of the first that do not.
func (s status) addHubs(head *facts) {
	counts, shown := map[string]int{}, 0
	for i := range s.Hubs {
		counts[s.Hubs[i].State]++
	}
	var words []string
	for _, state := range subscriptionStates {
		if n := counts[state]; n > 0 {
			words = append(words, fmt.Sprintf("%s %s", report.Count(n), state))
		}
	}
	if len(words) > 0 {
		head.add("hubs", "of %s: %s", report.Plural(len(s.Hubs), "feed"), strings.Join(words, ", "))
	}
	for i := range s.Hubs {
		h := &s.Hubs[i]
		if (h.State == hubFailing || h.State == hubDenied) && shown < hubsTold {
			shown++
			head.add("hub", "of %s: %s", head.style.Address(h.Feed), h.words(s.At, head.style))
		}
	}
}
