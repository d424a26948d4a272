package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/scheduler"
	"recrawld/web"
)

const (
	testFeed     = "https://h.example/docs/feed"
	testHubURL   = "https://hub.example/"
	testCallback = "https://crawler.example/websub/"
)

// hubRig is a daemon's part in WebSub, with a hub that says what a test has it say, on a virtual clock.
type hubRig struct {
	*websub
	t     *testing.T
	clock *clock.Virtual
	c     config.Config
	rows  []models.Site
	feed  models.Page
	copy  string // of the feed
	asked []url.Values
	says  error // to whoever asks
}

func newHubRig(t *testing.T) *hubRig {
	t.Helper()
	h := &hubRig{t: t, clock: clock.NewVirtual(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)), c: config.Default(), copy: atomOf("old")}
	h.c.WebSub.Callback = testCallback
	store, err := models.Open(t.Context(), liteFile(t), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if err := store.Migrate(t.Context(), h.clock.Now()); err != nil {
		t.Fatal(err)
	}
	site, err := config.NewSite("docs", "https://h.example/docs/", h.c.Defaults)
	if err != nil {
		t.Fatal(err)
	}
	if h.rows, err = store.SyncSites(t.Context(), h.clock.Now(), []models.Site{{Name: "docs", URL: site.URL}}); err != nil {
		t.Fatal(err)
	}
	site.ID = h.rows[0].ID
	h.c.Sites = []config.Site{site}
	h.begin(store)
	h.follows(testFeed)
	return h
}

// follows makes a page known, and it the feed of what comes.
func (h *hubRig) follows(feed string) {
	h.t.Helper()
	u, err := canon.Parse(feed)
	if err != nil {
		h.t.Fatal(err)
	}
	h.feed = scheduler.NewPage(u.String(), u.HostName(), h.rows[0].ID, 1, 4)
	if _, err := h.store.AddPages(h.t.Context(), h.clock.Now(), []models.Discovery{{Page: h.feed, Host: u.HostName()}}, 0); err != nil {
		h.t.Fatal(err)
	}
}

// begin is a start of the daemon.
func (h *hubRig) begin(store *models.Store) {
	h.websub = newWebsub(websubParts{store: store, force: h.inForce, clock: h.clock, log: slog.New(slog.DiscardHandler),
		ask: func(_ context.Context, hub string, _ bool, form url.Values) error {
			form.Set("hub", hub)
			h.asked = append(h.asked, form)
			return h.says
		},
		held: func(context.Context, *models.Page) ([]byte, string, bool, error) {
			return []byte(h.copy), "", h.copy != "", nil
		},
	}, prometheus.NewRegistry())
}

func (h *hubRig) inForce() *inForce {
	force, err := putTogether(h.c, nil, h.rows)
	if err != nil {
		h.t.Fatal(err)
	}
	return force
}

// finds is a visit to the feed that names a hub.
func (h *hubRig) finds(hub string) {
	out := models.Outcome{Kind: models.Changed, Hub: &models.Hub{URL: hub, Topic: testFeed}}
	h.found(h.t.Context(), &h.feed, &out)
}

// later lets time pass, and hubs be asked. It returns what the last of them was asked for, "" for nothing.
func (h *hubRig) later(d time.Duration) string {
	h.t.Helper()
	if err := h.clock.SleepUntil(h.t.Context(), h.clock.Now().Add(d)); err != nil {
		h.t.Fatal(err)
	}
	before := len(h.asked)
	if err := chore(h.t, &daemon{websub: h.websub, clock: h.clock, log: slog.New(slog.DiscardHandler)}, "hubs")(h.clock.Now()); err != nil {
		h.t.Fatal(err)
	}
	if len(h.asked) == before {
		return ""
	}
	return h.asked[len(h.asked)-1].Get("hub.mode")
}

// path is that of the callback of the last request.
func (h *hubRig) path() string {
	return strings.TrimPrefix(h.asked[len(h.asked)-1].Get("hub.callback"), testCallback)
}

// means is the hub asking back.
func (h *hubRig) means(mode string, lease time.Duration) bool {
	h.t.Helper()
	meant, err := h.Intends(h.t.Context(), h.path(), web.Intent{Mode: mode, Topic: testFeed, Lease: lease})
	if err != nil {
		h.t.Fatal(err)
	}
	return meant
}

// one is the only subscription there is.
func (h *hubRig) one() models.Subscription {
	h.t.Helper()
	all, err := h.store.Subscriptions(h.t.Context())
	if err != nil || len(all) != 1 {
		h.t.Fatalf("%d subscriptions, %v, want 1", len(all), err)
	}
	return all[0]
}

// subscribed has the hub agree.
func (h *hubRig) subscribed() *hubRig {
	h.t.Helper()
	h.finds(testHubURL)
	if h.later(0) != models.Subscribing || !h.means(models.Subscribing, 240*time.Hour) {
		h.t.Fatal("the hub does not agree")
	}
	return h
}

// atomOf is an Atom feed of entries by their names, each at its place in /docs/ unless it is an address.
func atomOf(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		at := name
		if !strings.Contains(name, "://") {
			at = "https://h.example/docs/" + name
		}
		fmt.Fprintf(&b, `<entry><link href="%s"/><id>%s</id></entry>`, at, name)
	}
	return "<feed>" + b.String() + "</feed>"
}

// TestAHubIsAskedAndAsksBack: it gets a path and a secret of its own, may do what it was asked for, once or again and also after the daemon was
// started anew, and nothing else; and nobody may who was not asked.
func TestAHubIsAskedAndAsksBack(t *testing.T) {
	t.Parallel()
	h := newHubRig(t)
	h.finds(testHubURL)
	h.finds(testHubURL)
	if h.later(0) != models.Subscribing || h.later(time.Second) != "" {
		t.Fatalf("the hub is asked %d times, want once", len(h.asked))
	}
	form := h.asked[0]
	if form.Get("hub") != testHubURL || form.Get("hub.topic") != testFeed || form.Get("hub.lease_seconds") != "864000" || len(form.Get("hub.secret")) != 64 || !isPath(h.path()) {
		t.Errorf("it is asked %v", form)
	}
	for name, i := range map[string]web.Intent{"of another topic": {Mode: "subscribe", Topic: testFeed + "x"}, "to leave": {Mode: "unsubscribe", Topic: testFeed},
		"nothing": {Topic: testFeed}} {
		if meant, err := h.Intends(t.Context(), h.path(), i); meant || err != nil {
			t.Errorf("a hub that means %s: %v, %v", name, meant, err)
		}
	}
	for _, path := range []string{strings.Repeat("A", pathLength), "", "%", h.path()[1:]} {
		if meant, err := h.Intends(t.Context(), path, web.Intent{Mode: "subscribe", Topic: testFeed}); meant || err != nil {
			t.Errorf("at %q, where nobody asked: %v, %v", path, meant, err)
		}
	}
	if err := h.Expects(t.Context(), h.path()); refusedWith(err) != http.StatusNotFound {
		t.Errorf("a push before the hub agreed: %v", err)
	}
	h.begin(h.store)
	for range 2 {
		if !h.means(models.Subscribing, 240*time.Hour) {
			t.Fatal("the hub may not do what it was asked for")
		}
	}
	if s := h.one(); !s.Verified(models.At(h.clock.Now())) || s.Asked != 0 {
		t.Errorf("%+v, want it verified", s)
	}
	if err := h.Expects(t.Context(), h.path()); err != nil {
		t.Errorf("a push: %v", err)
	}
	if h.finds(testHubURL); h.later(time.Hour) != "" {
		t.Error("a hub that tells is asked")
	}
	if h.later(confirmWithin) != "" || h.means(models.Subscribing, time.Hour) {
		t.Error("a hub may ask back long after it was asked")
	}
}

// refusedWith is the status of a refusal, 0 of none.
func refusedWith(err error) int {
	refused, _ := errors.AsType[web.Refusal](err)
	return refused.Status
}

// TestSubscriptionsAreRenewed: before the lease is over, however long it is, and not all the time where it is short.
func TestSubscriptionsAreRenewed(t *testing.T) {
	t.Parallel()
	for lease, want := range map[time.Duration]struct{ until, early, late time.Duration }{
		time.Second:         {time.Second, renewLeast, renewLeast},
		20 * 24 * time.Hour: {240 * time.Hour, 180 * time.Hour, 216 * time.Hour},
		87600 * time.Hour:   {240 * time.Hour, 180 * time.Hour, 216 * time.Hour},
		10 * time.Hour:      {10 * time.Hour, 7*time.Hour + 30*time.Minute, 9 * time.Hour},
		0:                   {240 * time.Hour, 180 * time.Hour, 216 * time.Hour},
	} {
		h := newHubRig(t)
		h.finds(testHubURL)
		h.later(0)
		if !h.means(models.Subscribing, lease) {
			t.Fatalf("a lease of %v is not taken", lease)
		}
		s, now := h.one(), h.clock.Now()
		if until, next := s.Until.Time().Sub(now), s.NextAt.Time().Sub(now); until != want.until || next < want.early || next > want.late {
			t.Errorf("a lease of %v lasts %v and is renewed after %v, want %v and %v to %v", lease, until, next, want.until, want.early, want.late)
		}
		if h.later(want.early-time.Second) != "" || h.later(want.late-want.early+2*time.Second) != models.Subscribing {
			t.Errorf("a lease of %v is renewed at another time", lease)
		}
		if lease > time.Second && h.Expects(t.Context(), h.path()) != nil {
			t.Errorf("a lease of %v: nothing is heard while it is renewed", lease)
		}
	}
}

// TestAHubThatDoesNotAgreeIsAskedEverLessOften: whatever it answers, also after years; one that denies, a week later, and may agree then.
func TestAHubThatDoesNotAgreeIsAskedEverLessOften(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]error{"takes it and does nothing": nil, "hangs": context.DeadlineExceeded, "refuses": &recrawl.HubError{Status: 500, Says: "no"}} {
		h := newHubRig(t)
		h.says = says
		h.finds(testHubURL)
		var asked []time.Time
		for range 30 * 24 {
			if h.later(time.Hour) != "" {
				asked = append(asked, h.clock.Now())
			}
		}
		if n := len(asked); n < 30 || n > 50 {
			t.Errorf("a hub that %s is asked %d times in 30 days, want 30 to 50", name, n)
		}
		if s := h.one(); (s.Error != "") != (says != nil) {
			t.Errorf("a hub that %s: error %q", name, s.Error)
		}
		if !h.means(models.Subscribing, time.Hour) || h.one().Error != "" {
			t.Errorf("a hub that %s may not agree at last", name)
		}
	}
	h := newHubRig(t).subscribed()
	if meant, err := h.Intends(t.Context(), h.path(), web.Intent{Mode: "denied", Topic: testFeed, Reason: "gone\x1b[31m" + strings.Repeat("x", 500)}); !meant || err != nil {
		t.Fatal(meant, err)
	}
	s := h.one()
	if s.Verified(models.At(h.clock.Now())) || !strings.HasPrefix(s.Error, "the hub denied it: gone") || strings.ContainsRune(s.Error, 27) || len(s.Error) > 300 {
		t.Errorf("denied: %+v", s)
	}
	if err := h.Expects(t.Context(), h.path()); refusedWith(err) != http.StatusNotFound {
		t.Errorf("a hub that denied tells: %v", err)
	}
	if h.means("", time.Hour) || h.means(models.Subscribing, time.Hour) {
		t.Error("a hub that denied may go on unasked")
	}
	if h.later(deniedFor-time.Hour) != "" || h.later(2*time.Hour) != models.Subscribing || !h.means(models.Subscribing, time.Hour) || h.Expects(t.Context(), h.path()) != nil {
		t.Error("a hub that denied is not asked a week later, or may not agree then")
	}
	just := newHubRig(t).subscribed()
	just.c.WebSub.Lease = 24 * time.Hour
	asked := len(just.asked)
	looked := just.clock.Now()
	_ = just.clock.SleepUntil(t.Context(), looked.Add(time.Millisecond))
	if meant, err := just.Intends(t.Context(), just.path(), web.Intent{Mode: "denied", Topic: testFeed}); !meant || err != nil {
		t.Fatal(meant, err)
	}
	if err := just.followHubs(t.Context(), looked); err != nil || len(just.asked) > asked {
		t.Errorf("a hub is asked that denied just after somebody looked at the clock, %v", err)
	}
	busy := newHubRig(t)
	busy.says = &recrawl.HubError{Status: 503, After: 5 * time.Hour}
	busy.finds(testHubURL)
	if busy.later(0); busy.later(5*time.Hour-time.Second) != "" || busy.later(2*time.Second) == "" {
		t.Error("a hub that asks for five hours does not get them")
	}
}

// TestHubsAreLeft: when the feed, its site or the configuration want no more of them; what they say then is not heard, and nothing is left of it.
func TestHubsAreLeft(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*hubRig){
		"the feed names another": func(h *hubRig) { h.finds("https://other.example/") },
		"the feed names none": func(h *hubRig) {
			h.found(t.Context(), &h.feed, &models.Outcome{Kind: models.Changed, Hub: &models.Hub{}})
		},
		"the feed is gone":    func(h *hubRig) { h.found(t.Context(), &h.feed, &models.Outcome{Kind: models.Gone}) },
		"the site is removed": func(h *hubRig) { h.rows, h.c.Sites = nil, nil },
		"lists are off":       func(h *hubRig) { h.c.Sites[0].Settings.Lists = config.ListsOff },
		"it is turned off":    func(h *hubRig) { h.c.WebSub.Callback = "off" },
		"the site is paused": func(h *hubRig) {
			h.rows[0].Paused = true
			if h.later(0) != "" || h.later(longPause-time.Hour) != "" {
				t.Error("a hub is left when its site has just been paused")
			}
			h.later(2 * time.Hour)
		},
	} {
		h := newHubRig(t).subscribed()
		path := h.path()
		leave(h)
		if meant, err := h.Intends(t.Context(), path, web.Intent{Mode: "subscribe", Topic: testFeed}); meant || err != nil {
			t.Errorf("%s: the hub may go on: %v, %v", name, meant, err)
		}
		for len(h.asked) == 1 || !slices.ContainsFunc(h.asked, func(f url.Values) bool { return f.Get("hub.mode") == "unsubscribe" }) {
			before := len(h.asked)
			if h.later(hubsEvery); len(h.asked) == before {
				t.Fatalf("%s: the hub is not left", name)
			}
		}
		i := slices.IndexFunc(h.asked, func(f url.Values) bool { return f.Get("hub.mode") == "unsubscribe" })
		if form := h.asked[i]; form.Get("hub") != testHubURL || form.Get("hub.callback") != testCallback+path || form.Get("hub.topic") != testFeed || form.Has("hub.secret") {
			t.Errorf("%s: it is asked %v", name, form)
		}
		if err := h.Expects(t.Context(), path); refusedWith(err) != http.StatusGone {
			t.Errorf("%s: a push is answered %v", name, err)
		}
		intent := web.Intent{Mode: "unsubscribe", Topic: testFeed}
		if meant, err := h.Intends(t.Context(), path, intent); !meant || err != nil {
			t.Errorf("%s: the hub may not leave: %v, %v", name, meant, err)
		}
		h.later(hubsEvery)
		if _, err := h.store.Subscription(t.Context(), path); !errors.Is(err, models.ErrNotFound) {
			t.Errorf("%s: something is left of it: %v", name, err)
		}
	}
	h := newHubRig(t).subscribed()
	h.c.WebSub.Callback = "off"
	h.says = context.DeadlineExceeded
	for range 100 {
		h.later(time.Hour)
	}
	if all, err := h.store.Subscriptions(t.Context()); err != nil || len(all) > 0 || len(h.asked) != 1+askLeave {
		t.Errorf("a hub that does not answer is asked %d times to leave, %d are left, %v", len(h.asked)-1, len(all), err)
	}
	moved := newHubRig(t).subscribed()
	moved.c.WebSub.Callback = "https://elsewhere.example/"
	for range 3 {
		moved.later(hubsEvery)
	}
	var got []string
	for _, form := range moved.asked[1:] {
		got = append(got, form.Get("hub.mode")+" "+cmp.Or(form.Get("hub.callback")[:len("https://elsewhere")], ""))
	}
	slices.Sort(got)
	if want := []string{"subscribe https://elsewhere", "unsubscribe https://crawler.e"[:len("unsubscribe https://elsewhere")]}; !slices.Equal(got, want) {
		t.Errorf("with another callback hubs are asked %q, want %q", got, want)
	}
}

// TestOfManyWorkersOneAsks: whichever is first; and a turn that a clock that was ahead gave keeps nobody from it.
func TestOfManyWorkersOneAsks(t *testing.T) {
	t.Parallel()
	h := newHubRig(t)
	var asked atomic.Int32
	workers := make([]*websub, 4)
	for i := range workers {
		workers[i] = newWebsub(websubParts{store: h.store, force: h.inForce, clock: h.clock, log: h.log,
			ask: func(context.Context, string, bool, url.Values) error { asked.Add(1); return nil }}, prometheus.NewRegistry())
	}
	ask := func(now time.Time) {
		var all sync.WaitGroup
		for _, w := range workers {
			all.Go(func() {
				w.found(t.Context(), &h.feed, &models.Outcome{Kind: models.Changed, Hub: &models.Hub{URL: testHubURL, Topic: testFeed}})
				if err := w.followHubs(t.Context(), now); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	now := h.clock.Now()
	if ask(now.Add(24 * 365 * time.Hour)); asked.Load() != 1 {
		t.Errorf("a hub is asked %d times, want once", asked.Load())
	}
	if ask(now); asked.Load() != 2 || h.one().NextAt.Time().Sub(now) > 2*askAgain {
		t.Errorf("after a clock that was ahead a hub is asked %d times more, want once", asked.Load()-1)
	}
}

// TestStrangersFeedsHaveFewHubsAsked: so many of each site, no other in a rehearsal, and as many anew for another callback.
func TestStrangersFeedsHaveFewHubsAsked(t *testing.T) {
	t.Parallel()
	h := newHubRig(t)
	for i := range mostOfSite + 20 {
		h.feed.ID = int64(i)
		h.finds(testHubURL)
	}
	h.feed.SiteID++
	h.speed = 10
	h.finds(testHubURL)
	h.speed = 0
	count := func(callback string) (n int) {
		all, err := h.store.Subscriptions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if s.Callback == callback {
				n++
			}
		}
		return n
	}
	if n := count(testCallback); n != mostOfSite {
		t.Errorf("%d subscriptions, want %d", n, mostOfSite)
	}
	h.c.WebSub.Callback = "https://elsewhere.example/"
	h.later(hubsEvery)
	if n := count(h.c.WebSub.Callback); n != mostOfSite {
		t.Errorf("with another callback %d subscriptions, want %d", n, mostOfSite)
	}
}

// TestHubsAreAskedInTurn: each once at a time, and of many those first that wait longest.
func TestHubsAreAskedInTurn(t *testing.T) {
	t.Parallel()
	h := newHubRig(t)
	for i := range 3 * hubsAsked {
		if err := h.clock.SleepUntil(t.Context(), h.clock.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		h.follows(fmt.Sprintf("%s%d", testFeed, i))
		h.finds(fmt.Sprintf("https://hub%d.example/", i/2)) // two of each
	}
	var want, got []string
	for i := range hubsAsked {
		want = append(want, fmt.Sprintf("https://hub%d.example/", i))
	}
	h.later(0)
	for _, form := range h.asked {
		got = append(got, form.Get("hub"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("asked are %q, want %q", got, want)
	}
}
