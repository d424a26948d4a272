package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/report"
	"recrawld/scheduler"
	"recrawld/sink"
)

// rewindCmd brings back what was written while the machine's clock was ahead.
type rewindCmd struct {
	Yes bool `short:"y" help:"Do not ask."`
}

// Help is the text below the flags.
func (rewindCmd) Help() string {
	return `For the case that the clock was ahead once and is right now: the daemon visits nothing then until the moment has come that it
wrote, and says so. Every moment in the database that must have passed and lies after now is brought back, by as much as the
clock was ahead; pages that were visited then become due within their interval, each at a moment of its own. Leases and beats
of then end; robots.txt files of then are asked for again. The archive, and the mirror's dates, stay as they are. All workers
must be stopped. Once more it changes nothing; take a checkpoint before (recrawld backup).`
}

// Run implements the command.
func (r rewindCmd) Run(ctx context.Context, g *globals) error {
	return g.withStore(ctx, g.openExisting, func(c *config.Config, store *models.Store) error {
		l, err := takeLock(c.Data, "")
		if err != nil {
			return err
		}
		defer l.release()
		machine, err := machineOf(ctx, store)
		if err != nil {
			return err
		}
		if err := nobodyAlive(ctx, store, machine); err != nil {
			return err
		}
		anchor, _, err := readAnchor(ctx, store)
		if err != nil {
			return err
		}
		if anchor.Speed != 0 {
			return refusedf("this data was used for a rehearsal (%s), whose clock is ahead on purpose: go on with that, or use another --data",
				speedFlag(anchor.Speed))
		}
		now := machine.Now()
		yes, err := g.confirm(fmt.Sprintf("Is it %s now?", now.Format(time.DateTime+" MST")), r.Yes, false)
		if err != nil || !yes {
			return err
		}
		done, err := rewind(ctx, store, c, now)
		return errors.Join(err, g.tellRewound(done, now))
	})
}

// nobodyAlive refuses while a worker is alive: one that beat lately, by its machine's clock, or one whose clock is ahead and
// that goes on beating.
func nobodyAlive(ctx context.Context, store *models.Store, machine clock.Clock) error {
	before, err := store.Workers(ctx)
	if err != nil {
		return err
	}
	now, ahead := machine.Now(), make(map[string]models.Instant)
	for _, w := range before {
		switch {
		case now.Sub(w.RealBeatAt.Time()).Abs() < alive:
			return coded{exitLocked, fmt.Errorf("worker %q is alive, on %s: stop all workers first", w.Name, w.Machine)}
		case w.RealBeatAt > models.At(now):
			ahead[w.Name] = w.RealBeatAt
		}
	}
	if len(ahead) == 0 {
		return nil
	}
	if err := machine.SleepUntil(ctx, now.Add(2*beatEvery)); err != nil {
		return err
	}
	after, err := store.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range after {
		if at, was := ahead[w.Name]; was && w.RealBeatAt != at {
			return coded{exitLocked, fmt.Errorf("worker %q is alive, on %s, whose clock is ahead: set that, and stop all workers first",
				w.Name, w.Machine)}
		}
	}
	return nil
}

// rewind brings a database back to now.
func rewind(ctx context.Context, store *models.Store, c *config.Config, now time.Time) (models.Rewound, error) {
	calendar, err := scheduler.ParseCycle(c.Cycle)
	if err != nil {
		return nil, err
	}
	done, err := store.Rewind(ctx, models.Rewinding{Now: now, RetryMax: longestRetry(c),
		Interval: func(p *models.Page) time.Duration { return intervalOf(p, calendar, now) },
		Known:    scheduler.RewindKnowledge, Noise: rewindNoise, Note: rewindNote})
	if err != nil {
		return done, err
	}
	sinks, err := leasedSinks(ctx, store)
	if err != nil {
		return done, err
	}
	for _, name := range sinks {
		if err := freeSink(ctx, store, name, now); err != nil {
			return done, err
		}
	}
	return done, nil
}

// longestRetry is the longest Retry-After that is heeded for any site.
func longestRetry(c *config.Config) time.Duration {
	longest := c.Defaults.RetryMax
	for i := range c.Sites {
		longest = max(longest, c.Sites[i].Settings.RetryMax)
	}
	return longest
}

// intervalOf is from one visit of a page to the next. One that fails or is gone is asked for once a day at most.
func intervalOf(p *models.Page, calendar scheduler.Calendar, now time.Time) time.Duration {
	every := p.Wanted
	if every <= 0 {
		every = calendar.Interval(now, int(p.FRMax))
	}
	if p.Failures > 0 || p.State != models.StateLive && p.State != models.StateNew {
		every = max(every, 24*time.Hour)
	}
	return max(every, time.Minute)
}

func rewindNoise(body []byte, back models.Back) []byte {
	return content.RewindHost(body, func(at int64) int64 {
		if at <= back.Now.Time().Unix() {
			return at
		}
		return back.Time(time.Unix(at, 0)).Unix()
	})
}

func rewindNote(name string, body []byte, back models.Back) []byte {
	switch name {
	case importanceNote:
		turn := fromNote[importanceTurn](body)
		if turn.At <= back.Now && turn.Until <= back.Now {
			return body
		}
		turn.At, turn.By, turn.Until = back.Moment(turn.At), "", 0
		return toNote(turn)
	case noteCounted:
		var c counted
		if json.Unmarshal(body, &c) == nil && c.At <= back.Now && c.Real <= back.Now {
			return body
		}
		return nil // the pages are counted anew
	case report.NoteLevels:
		if report.ReadLevels(body).At <= back.Now {
			return body
		}
		return nil // they are measured anew
	}
	return scheduler.RewindNote(name, body, back)
}

// freeSink ends a lease of a sink that lasts longer than any that is taken now.
func freeSink(ctx context.Context, store *models.Store, name string, now time.Time) error {
	key := sink.LeaseKey(name)
	old, err := store.Meta(ctx, key)
	if err != nil || sink.HeldBy(old, now) == "" {
		return err
	}
	_, err = store.SetMeta(ctx, key, old, sink.LeaseFreed)
	return err
}

// tellRewound says what was changed.
func (g *globals) tellRewound(done models.Rewound, now time.Time) error {
	if g.JSON {
		return report.WriteValue(g.Stdout, done)
	}
	total, parts := int64(0), []string(nil)
	for _, table := range slices.SortedFunc(maps.Keys(done), func(a, b string) int {
		return cmp.Or(cmp.Compare(done[b], done[a]), cmp.Compare(a, b))
	}) {
		if n := done[table]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%s %s", report.Count(n), table))
		}
	}
	if total == 0 {
		_, err := fmt.Fprintf(g.Stdout, "nothing was written after %s; nothing is changed\n", now.Format(time.DateTime))
		return err
	}
	_, err := fmt.Fprintf(g.Stdout, "brought back to %s: %s\n", now.Format(time.DateTime), strings.Join(parts, ", "))
	return err
}
