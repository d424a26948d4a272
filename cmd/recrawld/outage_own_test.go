package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawld/config"
	"recrawld/recrawl"
	"recrawld/web"
)

// nobodyAnswers is a resolver whose servers are out of reach.
type nobodyAnswers struct{}

func (nobodyAnswers) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
}

// Where our own network is down nothing is claimed: status sends whoever asks why to the log and /healthz, which say so.
func TestAnOutageOfOurOwnIsTold(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "agent: {contact: me@example.net}\n")
	var log bytes.Buffer
	var g globals
	g.connect(strings.NewReader(""), io.Discard, &log)
	g.ConfigPath = path
	r := &runCmd{}
	for i := range 8 {
		r.URLs = append(r.URLs, fmt.Sprintf("http://h%d.test/", i))
	}
	d, err := newDaemon(t.Context(), &g, r)
	if err != nil {
		t.Fatal(err)
	}
	d.visitor.make = func(c *config.Config) (*recrawl.Visitor, error) {
		visits := d.visits(c)
		visits.Resolver = nobodyAnswers{}
		return recrawl.New(visits)
	}
	c := d.force.Load().config
	c.Agent.Contact = "you@example.net" // another one has the visitor made anew
	if err := d.visitor.follow(&c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	claiming := d.checks()[slices.IndexFunc(d.checks(), func(c web.Check) bool { return c.Name == "claiming" })]
	var said error
	var group errgroup.Group
	group.Go(func() error { return d.run(ctx) })
	for said == nil && d.machine.SleepUntil(ctx, d.machine.Now().Add(20*time.Millisecond)) == nil {
		said = claiming.Run(ctx)
	}
	cancel()
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	if said == nil || !strings.Contains(said.Error(), "our own network is down") {
		t.Errorf("/healthz says %v, want that our own network is down", said)
	}
	if n := strings.Count(log.String(), "our own network is down"); n != 1 {
		t.Errorf("the log says %d times that our own network is down, want once:\n%s", n, log.String())
	}
}
