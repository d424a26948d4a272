package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
)

// Feeds name hubs that tell of what they say (WebSub). Each subscription has a row, found by the path of its callback: visits find hubs
// (found), a chore asks them (followHubs), hubs ask back and tell (Intends, Hear), and one loop makes hints of what they tell (Run). Rows are
// changed where they are as they were read, so that of many workers one asks, and any hears.

// hubHears is how many pushes wait to be looked at; of more the hub is told to come again.
const hubHears = 4

// websubParts are what the daemon's part in WebSub needs.
type websubParts struct {
	store *models.Store
	force func() *inForce
	clock clock.Clock
	log   *slog.Logger
	deaf  bool    // nobody listens: the daemon is alone and its listen is off
	speed float64 // of a rehearsal, which asks no hub elsewhere; 0: it is none
	ask   func(ctx context.Context, hub string, inside bool, form url.Values) error
	held  func(ctx context.Context, page *models.Page) (body []byte, contentType string, ok bool, err error)
}

// websub is the daemon's part in WebSub. It is safe for concurrent use.
type websub struct {
	websubParts
	heard  chan waitingPush
	counts *prometheus.CounterVec
	states *prometheus.GaugeVec

	mu    sync.Mutex          // guards what is below
	key   []byte              // of the database, from which paths and secrets are made
	known map[int64]string    // paths of feeds that name a hub, by the IDs of their pages, as far as they were read
	sites map[int32]int       // how many of them each site has
	paces map[string]pushPace // by path
	full  map[int32]bool      // sites that it was said of that they have too many
}

// waitingPush is a push that waits to be looked at.
type waitingPush struct {
	path string
	body []byte
}

func newWebsub(p websubParts, r prometheus.Registerer) *websub {
	w := &websub{websubParts: p, heard: make(chan waitingPush, hubHears), known: map[int64]string{}, sites: map[int32]int{},
		paces: map[string]pushPace{}, full: map[int32]bool{}}
	w.counts = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "recrawld", Name: "websub_pushes_total",
		Help: "What hubs told, by what came of it: hints; nothing_new; forged, where the signature is wrong; refused, where it was too often or for nobody; failed."}, []string{"outcome"})
	w.states = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "recrawld", Name: "websub_subscriptions",
		Help: "Feeds with a hub, by how it stands with that: verified, asked, failing, denied, leaving."}, []string{"state"})
	r.MustRegister(w.counts, w.states)
	return w
}

// The bounds of what strangers' feeds can have us keep and ask for.
const (
	mostSubscriptions = 1000
	mostOfSite        = 100
)

// wants tells whether hubs are to tell at all.
func (w *websub) wants() bool { return w.force().config.WebSub.Callback != "off" && !w.deaf }

// found takes note of what a visit learned of the hub of a page.
func (w *websub) found(ctx context.Context, page *models.Page, out *models.Outcome) {
	w.mu.Lock()
	was := w.known[page.ID]
	w.mu.Unlock()
	force := w.force()
	path, hub := "", out.Hub
	switch {
	case out.Kind == models.Gone && was != "":
		hub = &models.Hub{}
	case hub == nil, !w.wants(), w.speed > 0 && !hub.Inside:
		return
	}
	var err error
	if hub.URL != "" {
		path, err = w.pathOf(ctx, force.config.WebSub.Callback, page.ID, hub)
	}
	if err == nil && was != path {
		err = w.note(ctx, page, hub, was, path)
	}
	if err != nil && ctx.Err() == nil {
		w.log.Warn("the hub of a feed is not remembered", "page", page.URL, "err", err)
	}
}

// note writes that a feed names the hub of a path, and not that of another.
func (w *websub) note(ctx context.Context, page *models.Page, hub *models.Hub, was, path string) error {
	now := models.At(w.clock.Now())
	if path != "" && was == "" && !w.room(page.SiteID) {
		return nil
	}
	if was != "" {
		if _, _, err := w.store.ChangeSubscription(ctx, was, func(s *models.Subscription) bool {
			leaves := s.URL != "" && !s.Left
			s.Left = true
			return leaves
		}); err != nil {
			return err
		}
	}
	if path != "" {
		callback := w.force().config.WebSub.Callback
		_, _, err := w.store.ChangeSubscription(ctx, path, func(s *models.Subscription) bool {
			if s.URL != "" && !s.Left {
				return false
			}
			s.SiteID, s.Bucket, s.PageID, s.URL = page.SiteID, page.Bucket, page.ID, page.URL
			s.Hub, s.Topic, s.Inside, s.Callback = hub.URL, hub.Topic, hub.Inside, callback
			s.FoundAt, s.Left, s.NextAt, s.Asked = now, false, now, 0
			return true
		})
		if err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[page.ID] = path; path == "" {
		delete(w.known, page.ID)
	}
	if was == "" {
		w.sites[page.SiteID]++
	}
	return nil
}

// room tells whether a site may have one more subscription, and says once where it may not.
func (w *websub) room(site int32) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sites[site] < mostOfSite && len(w.known) < mostSubscriptions {
		return true
	}
	if !w.full[site] {
		w.log.Warn("more feeds of a site name hubs than are asked", "site", site, "most", mostOfSite, "of_all_sites", mostSubscriptions)
	}
	w.full[site] = true
	return false
}

// Paths and secrets are derived from a key of the database, so that nobody guesses them, all workers have the same, and none
// is lost where a daemon dies between asking and being asked back.

const websubKey = "websub-key"

var pathForm = base32.StdEncoding.WithPadding(base32.NoPadding)

// pathLength is how many characters a path has: of 160 bits.
const pathLength = 32

// isPath tells whether a text has the form of a path: anything else is not looked for.
func isPath(text string) bool {
	return len(text) == pathLength && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// pathOf is the path of the callback of a page's hub.
func (w *websub) pathOf(ctx context.Context, callback string, page int64, hub *models.Hub) (string, error) {
	sum, err := w.derive(ctx, fmt.Sprintf("path\n%d\n%s\n%s\n%s", page, hub.URL, hub.Topic, callback))
	if err != nil {
		return "", err
	}
	return pathForm.EncodeToString(sum[:pathLength*5/8]), nil
}

// secretOf is the secret with which the hub signs what it tells at a path.
func (w *websub) secretOf(ctx context.Context, path string) (string, error) {
	sum, err := w.derive(ctx, "secret\n"+path)
	return hex.EncodeToString(sum), err
}

func (w *websub) derive(ctx context.Context, text string) ([]byte, error) {
	w.mu.Lock()
	key := w.key
	w.mu.Unlock()
	if key == nil {
		kept, err := w.store.Meta(ctx, websubKey)
		if err == nil && kept == "" {
			kept, err = w.store.SetMeta(ctx, websubKey, "", rand.Text()+rand.Text())
		}
		if err != nil {
			return nil, err
		}
		key = []byte(kept)
		w.mu.Lock()
		w.key = key
		w.mu.Unlock()
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil), nil
}

// wanted tells whether the hub of a subscription is to tell, as it stands now. A pause is taken for long after a while.
func (w *websub) wanted(s *models.Subscription, now time.Time) bool {
	force := w.force()
	site, known := force.sites[s.SiteID]
	return w.wants() && s.Callback == force.config.WebSub.Callback && known && !s.Left &&
		site.site.Settings.Lists != config.ListsOff && (s.PausedAt == 0 || now.Sub(s.PausedAt.Time()) < longPause)
}

// longPause is after how long a paused site has no use for hubs any more.
const longPause = 7 * 24 * time.Hour

// paused tells whether a site is.
func (f *inForce) paused(site int32) bool {
	for _, row := range f.rows {
		if row.ID == site {
			return row.Paused
		}
	}
	return false
}

// subscriptionAt is the subscription of a path, for whoever asks for it from outside.
func (w *websub) subscriptionAt(ctx context.Context, path string) (models.Subscription, error) {
	if !isPath(path) {
		return models.Subscription{}, models.ErrNotFound
	}
	return w.store.Subscription(ctx, path)
}

// inScope is the site of a subscription and the URL of its feed; ok: both are still there.
func (w *websub) inScope(s *models.Subscription) (site preparedSite, feed canon.URL, ok bool) {
	site, ok = w.force().sites[s.SiteID]
	feed, err := canon.Parse(s.URL)
	return site, feed, ok && err == nil
}

// askHub asks a hub as the configuration in force has it.
func (d *daemon) askHub(ctx context.Context, hub string, inside bool, form url.Values) error {
	return recrawl.NewHubs(d.visits(&d.force.Load().config)).Ask(ctx, d.machine.Now(), hub, inside, form)
}

var errNoPath = errors.New("nobody is told anything at this address")
