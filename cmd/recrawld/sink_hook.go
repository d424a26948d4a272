package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/report"
	"recrawld/sink"
)

// webhookKind is the sink that tells a receiver.
func webhookKind(w *config.Webhook) sinkKind {
	name := "webhook:" + w.Name
	return sinkKind{name: name, where: w.URL, batch: sink.HookBatch, make: func(p sinkParts) openedSink {
		told := hookTeller{hook: w, parts: p}
		return sink.NewWebhook(sink.WebhookOptions{Name: name, URL: w.URL, Keys: w.Keys, Dial: recrawl.DialReceiver(hookPort(w.URL), w.Private),
			Describe: told.describe, RetryAfter: recrawl.RetryAfter, Clock: p.clock})
	}}
}

// hookPort is the port of a receiver; 0, which none has, where it cannot be one.
func hookPort(text string) uint16 {
	u, err := url.Parse(text)
	if err != nil {
		return 0
	}
	if u.Port() == "" {
		return map[string]uint16{"http": 80, "https": 443}[u.Scheme]
	}
	port, _ := strconv.ParseUint(u.Port(), 10, 16)
	return uint16(port)
}

// hookTeller puts events in the words that a receiver is told them in: those of /v1/changes.
type hookTeller struct {
	hook  *config.Webhook
	parts sinkParts
	rows  []models.Site // as they were last read
}

func (h *hookTeller) describe(ctx context.Context, events []models.Event) (log string, objects []json.RawMessage, err error) {
	if log, err = h.parts.store.LogName(ctx); err != nil {
		return "", nil, err
	}
	if h.rows, err = sitesOf(ctx, h.parts.store, h.rows, events); err != nil {
		return "", nil, err
	}
	names := siteNames(h.rows)
	objects, err = report.Objects(eventTable(events, h.parts.clock.Now(), names))
	if err != nil {
		return "", nil, err
	}
	wanted := models.ChangesQuery{Requisites: h.hook.Requisites, Weight: float32(h.hook.Weight)}
	for i, e := range events {
		if !slices.Contains(h.hook.Kinds, e.Kind.String()) || !wanted.Matches(e) ||
			len(h.hook.Sites) > 0 && !slices.Contains(h.hook.Sites, names[e.SiteID]) {
			objects[i] = nil
		}
	}
	return log, objects, nil
}

// checkHooks tells of receivers that nothing could be told: for want of keys, or because they are told of sites which are not there,
// for now at least; a name that was mistyped would say nothing for ever.
func (d *daemon) checkHooks() {
	for i := range d.start.Webhooks {
		hook := &d.start.Webhooks[i]
		if _, err := hook.Keys(); err != nil {
			d.log.Warn("a webhook has no keys, nothing is sent unsigned", "webhook", hook.Name, "err", err)
		}
		d.checkSites("webhook", hook.Name, hook.Sites)
	}
}

// checkSites tells of sites that a webhook, a mail or a chat names and that are not there.
func (d *daemon) checkSites(what, name string, sites []string) {
	rows := d.force.Load().rows
	for _, site := range sites {
		if !slices.ContainsFunc(rows, func(s models.Site) bool { return s.Name == site }) {
			d.log.Warn("the "+what+" names a site that is not there", what, name, "site", site)
		}
	}
}

// sinkTrouble is how long a sink takes nothing, as sinkListCmd shows it.
type sinkTrouble struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
	Next  time.Time `json:"next,omitzero"` // when it is tried again; zero: it is parked
}

// troubleOf reads whether a sink takes nothing; nil: it does.
func troubleOf(ctx context.Context, store *models.Store, name string) (*sinkTrouble, error) {
	row, err := store.Meta(ctx, sink.TroubleKey(name))
	if err != nil {
		return nil, err
	}
	t, err := sink.TroubleIn(row)
	if err != nil || t.Since == 0 {
		return nil, err
	}
	shown := sinkTrouble{Since: t.Since.Time(), Why: t.Why}
	if !t.Parked() {
		shown.Next = t.Next.Time()
	}
	return &shown, nil
}

// writeTrouble says since when a sink takes nothing, and what becomes of it.
func writeTrouble(out io.Writer, s sinkState, now time.Time) error {
	if s.Trouble == nil {
		return nil
	}
	again := s.Trouble.Next
	if again.Before(now) { // that is under way
		again = now
	}
	next := "it is tried again " + report.Until(now, again)
	if s.Trouble.Next.IsZero() {
		next = "it is parked, until \"recrawld sink replay " + s.Name + "\" or the next start of the daemon"
	}
	_, err := fmt.Fprintf(out, "\n%s takes nothing, for %s: %s\nNothing of it is lost: %s.\n", s.Name, report.Span(now.Sub(s.Trouble.Since)),
		report.Printable(s.Trouble.Why), next)
	return err
}
