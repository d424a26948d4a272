package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/sink"
)

// sinkCmd looks after the sinks: where what happened to pages is brought to.
type sinkCmd struct {
	List   sinkListCmd   `cmd:"" help:"The sinks, how far behind each is, and the pages that it cannot take."`
	Replay sinkReplayCmd `cmd:"" help:"Make a sink anew from the archive and the database, or try at once what a mail server or a chat refused."`
	Test   sinkTestCmd   `cmd:"" help:"Send a test mail, or a test message to a chat, now, and say what the server answers."`

	Redirects sinkRedirectsCmd `cmd:"" help:"Print where pages of the mirror have moved, as maps for nginx."`
}

// sinkListCmd lists the sinks.
type sinkListCmd struct{}

// sinkState is a sink as sinkListCmd shows it.
type sinkState struct {
	Name   string `json:"sink"`
	Where  string `json:"where"`
	Behind int    `json:"buckets_behind"`

	Next  time.Time `json:"next_at,omitzero"`    // when a sink that tells once a period does again
	Anew  bool      `json:"made_anew,omitempty"` // it is, or is to be at the next start of a daemon: till then it holds what was
	Owner string    `json:"drained_by,omitempty"`

	Withheld []withheldPage `json:"withheld"`
	Passed   *passedPages   `json:"passed_over,omitempty"`
	Trouble  *sinkTrouble   `json:"trouble,omitempty"`
	LackedAt time.Time      `json:"lacked_at,omitzero"` // the database lacked events that the sink had been given
}

// Run implements the command.
func (sinkListCmd) Run(ctx context.Context, g *globals) error {
	return g.withStore(ctx, g.openStore, func(c *config.Config, store *models.Store) error {
		clk, err := clockOf(ctx, store)
		if err != nil {
			return err
		}
		states := []sinkState{}
		for _, kind := range wantedSinks(c) {
			behind, next, err := behindBy(ctx, store, kind.name, clk.Now())
			if err != nil {
				return err
			}
			lease, err := store.Meta(ctx, sink.LeaseKey(kind.name))
			if err != nil {
				return err
			}
			wish, err := store.Meta(ctx, replayKey(kind.name))
			if err != nil {
				return err
			}
			withheld, err := withheldBy(ctx, store, kind.name)
			if err != nil {
				return err
			}
			passed, err := passedBy(ctx, store, kind.name)
			if err != nil {
				return err
			}
			trouble, err := troubleOf(ctx, store, kind.name)
			if err != nil {
				return err
			}
			lacked, anew, err := lackedBy(ctx, store, kind.name)
			if err != nil {
				return err
			}
			states = append(states, sinkState{Name: kind.name, Where: kind.where, Behind: behind, Next: next, Anew: anew || strings.HasPrefix(wish, replayAsked),
				Owner: sink.HeldBy(lease, clk.Now()), Withheld: withheld, Passed: passed, Trouble: trouble, LackedAt: lacked})
		}
		return writeSinks(g, states, clk.Now())
	})
}

func writeSinks(g *globals, states []sinkState, now time.Time) error {
	if g.JSON {
		return json.NewEncoder(g.Stdout).Encode(states)
	}
	table := tabwriter.NewWriter(g.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "sink\twhere\tbehind\twithheld\tdrained by")
	for _, s := range states {
		behind := "no"
		switch {
		case s.Anew && s.Owner == "":
			behind = "to be made anew"
		case s.Anew:
			behind = "is made anew"
		case s.Behind > 0:
			behind = fmt.Sprintf("%d of %d parts", s.Behind, models.Buckets)
		case s.Next.After(now):
			behind = "next " + report.Until(now, s.Next)
		}
		owner := s.Owner
		if owner == "" {
			owner = "nobody now"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Where, behind, report.Plural(len(s.Withheld), "page"), owner)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, s := range states {
		if err := errors.Join(writeWithheld(g.Stdout, s, now), writePassed(g.Stdout, s, now), writeTrouble(g.Stdout, s, now), writeLacked(g.Stdout, s, now)); err != nil {
			return err
		}
	}
	return nil
}

// sinkReplayCmd makes a sink anew: by the daemon that drains it, or here where none runs.
type sinkReplayCmd struct {
	Name string `arg:"" help:"The sink: mirror, webhook:NAME, index:NAME, or mail:NAME and chat:NAME, which are told nothing twice: what waits is tried again at once."`
}

// Run implements the command.
func (r sinkReplayCmd) Run(ctx context.Context, g *globals) error {
	return g.withStore(ctx, g.openExisting, func(c *config.Config, store *models.Store) error {
		lost, err := g.replay(ctx, c, store, r.Name)
		if err != nil {
			return err
		}
		return g.answer(struct {
			Sink string `json:"sink"`
			Lost int64  `json:"lost,omitempty"` // pages whose bodies the archive has lost
		}{r.Name, lost}, replayWords(r.Name, lost))
	})
}

// replayWords say what came of a replay.
func replayWords(name string, lost int64) string {
	if tellsPeriods(name) {
		return name + " has nothing left to send that is due"
	}
	return name + " made anew" + lostWords(lost)
}

// behindBy is of how many parts of the pages a sink has events yet to take, none before it is time for those that tell once a period, and
// when that is; zero: it takes events as they come.
func behindBy(ctx context.Context, store *models.Store, name string, now time.Time) (behind int, next time.Time, err error) {
	row, err := store.Meta(ctx, sink.PeriodsKey(name))
	if err != nil || row == "" && tellsPeriods(name) { // that begins where the log ends when it first runs
		return 0, next, err
	}
	periods, err := sink.PeriodsIn(row)
	if err != nil {
		return 0, next, err
	}
	if periods.Next > 0 {
		next = periods.Next.Time()
	}
	if next.After(now) && periods.Pending == nil {
		return 0, next, nil
	}
	news, err := store.News(ctx, name)
	return len(news), next, err
}

// lostWords are what of a sink that was made anew could not be.
func lostWords(lost int64) string {
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf(", but for %s whose bodies the archive has lost: recrawld verify --mend finds them where the segments are back, and else has them fetched anew",
		report.Plural(lost, "page"))
}

// replay makes a sink anew, and returns of how many pages the archive has lost the bodies for it.
func (g *globals) replay(ctx context.Context, c *config.Config, store *models.Store, name string) (lost int64, err error) {
	kind, err := findSink(c, name)
	if err != nil {
		return 0, err
	}
	living, err := someoneLives(ctx, store)
	if err != nil {
		return 0, err
	}
	if living {
		return askForReplay(ctx, store, clock.System{}, kind.name)
	}
	return replayNoted(ctx, store, kind.name, func() (int64, error) { return replayHere(ctx, g, c, store, kind) })
}

func findSink(c *config.Config, name string) (sinkKind, error) {
	for _, kind := range wantedSinks(c) {
		if kind.name == name {
			return kind, nil
		}
	}
	return sinkKind{}, notFoundf("no sink %q in the configuration; there are: %s", name, strings.Join(sinkNames(c), ", "))
}

// replayNoted makes a sink anew and has noted meanwhile that this is to be done: should we die half-way, the next start of the
// daemon does it.
func replayNoted(ctx context.Context, store *models.Store, name string, replay func() (int64, error)) (lost int64, err error) {
	wish, err := wishReplay(ctx, store, name)
	if err != nil {
		return 0, err
	}
	if lost, err = replay(); err != nil && ctx.Err() != nil {
		return 0, fmt.Errorf("%w; the next start of the daemon makes the sink anew", err)
	}
	_, noted := store.SetMeta(ctx, replayKey(name), wish, replayAnswer(lost, err))
	return lost, errors.Join(err, noted)
}

// wishReplay notes that a sink is to be made anew.
func wishReplay(ctx context.Context, store *models.Store, name string) (wish string, err error) {
	old, err := store.Meta(ctx, replayKey(name))
	if err != nil {
		return "", err
	}
	wish = replayAsked + clock.System{}.Now().Format(time.RFC3339Nano)
	_, err = store.SetMeta(ctx, replayKey(name), old, wish)
	return wish, err
}

// replayHere makes the sink anew in this process.
func replayHere(ctx context.Context, g *globals, c *config.Config, store *models.Store, kind sinkKind) (lost int64, err error) {
	reader, err := openArchiveReader(c, store, clock.System{}.Now)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	clk, err := clockOf(ctx, store)
	if err != nil {
		return 0, err
	}
	opened := kind.make(sinkParts{archive: reader, store: store, clock: clk, log: g.Log, library: func(ctx context.Context) (library, error) {
		rows, err := store.Sites(ctx)
		if err != nil {
			return library{}, err
		}
		force, err := putTogether(*c, nil, rows)
		return library{store, force, reader.Read, clk.Now()}, err
	}})
	defer func() { err = errors.Join(err, opened.Close()) }()
	owner := fmt.Sprintf("replay-%d", os.Getpid())
	err = newDrain(store, opened, clk, sink.Options{Owner: owner, Batch: kind.batch, Log: g.Log}).Replay(ctx, store)
	return lostBy(opened), err
}

// undrained is how long none of the daemons that live drains a sink that is to be made anew until it is clear that none will: they
// were started with a configuration without it.
const undrained = 5 * time.Second

// askForReplay asks the daemon and waits for its answer, as long as one lives that drains the sink.
func askForReplay(ctx context.Context, store *models.Store, machine clock.Clock, name string) (lost int64, err error) {
	key := replayKey(name)
	if _, err := wishReplay(ctx, store, name); err != nil {
		return 0, err
	}
	for drained := machine.Now(); ; {
		if err := machine.SleepUntil(ctx, machine.Now().Add(200*time.Millisecond)); err != nil {
			return 0, err
		}
		now, err := store.Meta(ctx, key)
		switch {
		case err != nil:
			return 0, err
		case now == replayDone:
			return 0, nil
		case strings.HasPrefix(now, replayLost):
			return strconv.ParseInt(strings.TrimPrefix(now, replayLost), 10, 64)
		case strings.HasPrefix(now, replayFailed):
			return 0, errors.New("replay " + now)
		}
		workers, err := store.Workers(ctx)
		if err != nil {
			return 0, err
		}
		if len(livingWorkers(workers, machine.Now())) == 0 {
			return 0, fmt.Errorf("replay %s: the daemon has ended meanwhile; its next start makes the sink anew", name)
		}
		clk, err := clockOf(ctx, store)
		if err != nil {
			return 0, err
		}
		lease, err := store.Meta(ctx, sink.LeaseKey(name))
		switch {
		case err != nil:
			return 0, err
		case sink.HeldBy(lease, clk.Now()) != "":
			drained = machine.Now()
		case machine.Now().Sub(drained) > undrained:
			return 0, fmt.Errorf("replay %s: no daemon that runs drains it; the next start of one with this configuration makes the sink anew", name)
		}
	}
}
