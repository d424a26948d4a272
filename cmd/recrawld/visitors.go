package main

import (
	"context"
	"reflect"
	"sync"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
)

// visitors is the visitor of the present configuration. Settings of sites reach a visitor by themselves; who asks and
// what may be dialled are fixed in one, so a change of these makes another. It is safe for concurrent use.
type visitors struct {
	make   func(*config.Config) (*recrawl.Visitor, error)
	learns func(ctx context.Context, site int32) siteNews
	found  func(ctx context.Context, page *models.Page, out *models.Outcome) // takes note of the hub that a visit found, or that its page is gone

	mu      sync.RWMutex
	agent   config.Agent     // guarded by mu
	network config.Network   // guarded by mu
	now     *recrawl.Visitor // guarded by mu
}

// follow makes the visitor fit a configuration.
func (v *visitors) follow(c *config.Config) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.now != nil && v.agent == c.Agent && reflect.DeepEqual(v.network, c.Network) {
		return nil
	}
	next, err := v.make(c)
	if err != nil {
		return err
	}
	if v.now != nil {
		v.now.Close() // visits under way go on
	}
	v.now, v.agent, v.network = next, c.Agent, c.Network
	return nil
}

// siteNews is what there is to know of the site of a page whose turn has come.
type siteNews int

const (
	siteKnown   siteNews = iota
	siteNew              // a command has just added it: it was learned this moment
	siteRefused          // what a command added may not be asked by this daemon
	siteGone             // a command has removed it
)

// Visit implements scheduler.Visitor. The page of a site that was not known yet when its lease was planned has its turn
// again, under the site's own settings.
func (v *visitors) Visit(ctx context.Context, t models.Turn) models.Outcome {
	switch v.learns(ctx, t.Page.SiteID) {
	case siteNew:
		return models.Outcome{Kind: models.Interrupted, At: t.Now, Detail: "its site is new"}
	case siteRefused:
		return models.Outcome{Kind: models.Failed, Class: models.OwnRules, At: t.Now, Detail: "its site is not in force here"}
	case siteGone:
		return models.Outcome{Kind: models.Excluded, At: t.Now, Detail: "its site was removed"}
	}
	v.mu.RLock()
	visitor := v.now
	v.mu.RUnlock()
	out := visitor.Visit(ctx, t)
	if out.Hub != nil || out.Kind == models.Gone {
		page, said := t.Page.Page, out // in few visits, so that the others need no memory for that
		v.found(ctx, &page, &said)
	}
	return out
}

// connections is how many connections to sites are open.
func (v *visitors) connections() float64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return float64(v.now.Connections())
}

func (v *visitors) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now.Close()
}
