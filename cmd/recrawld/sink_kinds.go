package main

import (
	"context"
	"log/slog"
	"strings"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/sink"
)

// sinkKind is a sink that a configuration asks for.
type sinkKind struct {
	name  string
	where string // it brings things to
	batch int    // events that it is given at a time; 0: as many as the drain likes
	make  func(p sinkParts) openedSink
}

// sinkParts is what sinks are made of.
type sinkParts struct {
	archive sink.Archive
	store   *models.Store
	clock   clock.Clock
	log     *slog.Logger
	library func(ctx context.Context) (library, error) // of now
}

// openedSink is a sink that is closed in the end: a takingSink, or a sink.Digester.
type openedSink interface {
	Name() string
	Close() error
}

// takingSink is a sink that takes events as they come.
type takingSink interface {
	sink.Sink
	Close() error
}

// tellsPeriods tells of a sink's name whether it tells once a period: mails and chats do.
func tellsPeriods(name string) bool {
	return strings.HasPrefix(name, mailSinks) || strings.HasPrefix(name, chatSinks)
}

// newDrain drains into a sink of either kind.
func newDrain(store *models.Store, opened openedSink, clk clock.Clock, o sink.Options) *sink.Drain {
	if s, ok := opened.(sink.Digester); ok {
		return sink.NewDigests(store, s, clk, o)
	}
	return sink.NewDrain(store, opened.(takingSink), clk, o)
}

const mirrorSink = "mirror"

// wantedSinks are the sinks that a configuration asks for.
func wantedSinks(c *config.Config) []sinkKind {
	var kinds []sinkKind
	if c.Mirror.Dir != "off" {
		kinds = append(kinds, mirrorKind(c))
	}
	for i := range c.Webhooks {
		kinds = append(kinds, webhookKind(&c.Webhooks[i]))
	}
	for i := range c.Indexes {
		kinds = append(kinds, indexKind(c, &c.Indexes[i]))
	}
	for i := range c.Mails {
		kinds = append(kinds, mailKind(c, &c.Mails[i]))
	}
	for i := range c.Chats {
		kinds = append(kinds, chatKind(&c.Chats[i]))
	}
	return kinds
}

func mirrorKind(c *config.Config) sinkKind {
	return sinkKind{name: mirrorSink, where: c.Mirror.Dir, batch: sink.MirrorBatch, make: func(p sinkParts) openedSink {
		return &lateSink{name: mirrorSink, how: func() (takingSink, error) {
			return sink.OpenMirror(c.Mirror.Dir, sink.MirrorOptions{Archive: p.archive, Trash: c.Mirror.Trash, Log: p.log})
		}}
	}}
}

func sinkNames(c *config.Config) []string {
	var names []string
	for _, k := range wantedSinks(c) {
		names = append(names, k.name)
	}
	return names
}

// everySink are the sinks that a configuration asks for, and the mirror also where it is off for now.
func everySink(c *config.Config) []string {
	with := *c
	if with.Mirror.Dir == "off" {
		with.Mirror.Dir = ""
	}
	return sinkNames(&with)
}

// leasedSinks are all that were ever drained, whatever configuration asked for them.
func leasedSinks(ctx context.Context, store *models.Store) ([]string, error) {
	prefix := sink.LeaseKey("")
	names, err := store.MetaKeys(ctx, prefix)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], prefix)
	}
	return names, err
}
