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
	make func(*config.Config) (*recrawl.Visitor, error)

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

// Visit implements scheduler.Visitor.
func (v *visitors) Visit(ctx context.Context, t models.Turn) models.Outcome {
	v.mu.RLock()
	visitor := v.now
	v.mu.RUnlock()
	return visitor.Visit(ctx, t)
}

func (v *visitors) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now.Close()
}
