package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/report"
)

// statusCmd is the one screen to look at first.
type statusCmd struct{}

// Run implements the command.
func (c statusCmd) Run(ctx context.Context, g *globals) error { return g.read(ctx, c) }

func (statusCmd) read(ctx context.Context, l *look) error {
	s, err := l.status(ctx)
	if err != nil {
		return err
	}
	if l.JSON {
		return l.printJSON(s)
	}
	return s.write(l)
}

// status is what the command shows; its JSON form is the command's.
type status struct {
	At      time.Time      `json:"at"`                     // by the daemon's clock
	Speed   float64        `json:"speed,omitempty"`        // of a rehearsal
	Held    string         `json:"clock_behind,omitempty"` // why nothing is visited where the clock is far behind what was written
	Full    string         `json:"disk_nearly_full,omitempty"`
	Data    string         `json:"data"`
	Store   string         `json:"store"`
	Bytes   statusBytes    `json:"bytes"`
	Workers []workerStatus `json:"workers"`
	Today   statusDay      `json:"today"` // since midnight UTC
	PerDay  float64        `json:"visits_per_day"`
	Budgets []statusBudget `json:"budgets,omitempty"`
	NoPlan  int64          `json:"pages_without_interval"` // to be visited; the visits a day are without them
	PutOff  int64          `json:"put_off"`                // pages put off for the sake of a budget
	Sites   []siteStatus   `json:"sites"`
	Resting int            `json:"hosts_resting"`

	Withheld map[string]int         `json:"sinks_withhold"` // pages that a sink could not take, by sink
	Passed   map[string]int64       `json:"sinks_passed"`   // pages that a sink goes without since their copies are not on this machine, by sink
	Trouble  map[string]sinkTrouble `json:"sinks_trouble"`  // sinks that take nothing

	Levels     []siteLevel   `json:"service_levels,omitempty"` // what is attained of those that are promised
	Unusual    []siteUnusual `json:"unusual"`                  // what is unusual of sites
	SelfChecks []selfChecked `json:"self_checks"`              // the last weekly sample of each worker's archive
	Missing    []missing     `json:"archive_missing"`          // what archives did not have after a restore, while pages of it are to be fetched

	Hubs []shownHub `json:"hubs"` // that feeds name

	Slow       int `json:"hosts_slow"`       // whose delay their response time sets
	Overloaded int `json:"hosts_overloaded"` // and their answers 429 and 503

	Counted *time.Time `json:"counted_at,omitempty"` // as of when pages are due and put off and a day is planned, where counting takes long; absent: now
}

type statusBytes struct {
	Database int64 `json:"database,omitempty"`
	Archive  int64 `json:"archive,omitempty"`
}

type workerStatus struct {
	Name     string    `json:"name"`
	Alive    bool      `json:"alive"`
	Machine  string    `json:"machine"`
	PID      int32     `json:"pid"`
	Release  string    `json:"release"`
	Started  time.Time `json:"started_at"`
	Beat     time.Time `json:"beat_at"` // by the machine's clock
	InFlight int32     `json:"in_flight"`
	Visits   int64     `json:"visits"`
	Lost     int64     `json:"lost"`
	Held     bool      `json:"held,omitempty"` // it may claim nothing
}

type statusDay struct {
	Visits      int64 `json:"visits"`
	NotModified int64 `json:"not_modified"`
	Changed     int64 `json:"changed"`
	New         int64 `json:"new"`
	Moved       int64 `json:"moved"`
	Gone        int64 `json:"gone"` // answered 404 or 410
	Failed      int64 `json:"failed"`
	Robots      int64 `json:"robots"` // requests for robots.txt, which are not visits
	Bytes       int64 `json:"bytes"`
	BytesSaved  int64 `json:"bytes_saved"`
}

type siteStatus struct {
	Name       string           `json:"site"`
	URL        string           `json:"url"`
	Paused     bool             `json:"paused,omitempty"`
	Pages      int64            `json:"pages"`
	States     map[string]int64 `json:"states"`
	Requisites int64            `json:"requisites,omitempty"` // of the pages
	Failing    int64            `json:"failing"`
	Due        int64            `json:"due"`
	PutOff     int64            `json:"put_off"`
	Today      statusDay        `json:"today"`
	Changes    int64            `json:"changes_24h"`
	Next       *time.Time       `json:"next_visit_at"`
	PerDay     float64          `json:"visits_per_day"`
	NoPlan     int64            `json:"pages_without_interval"`
}

// status reads everything for the screen. It looks at all pages only where they are few, or where no daemon counted them
// before.
func (l *look) status(ctx context.Context) (status, error) {
	c := &l.force.config
	s := status{At: l.now, Speed: l.anchor.Speed, Data: c.Data, Store: l.store.Dialect()}
	if free, err := freeBytes(c.Data); err == nil { // else the disk is another machine's
		s.Full = fullWords(c.Data, free, c.Worker.MinFree)
	}
	s.Bytes = statusBytes{Database: sizeOf(c.Data, databaseFile), Archive: sizeOf(archiveDir(c), "")}
	if s.Store != "sqlite" {
		s.Bytes.Database = 0
	}
	newest, err := l.store.NewestInstant(ctx)
	if err != nil {
		return s, err
	}
	s.Held = holdBehind(l.now, newest.Time())
	workers, err := l.store.Workers(ctx)
	if err != nil {
		return s, err
	}
	for _, w := range workers {
		s.Workers = append(s.Workers, workerStatus{Name: w.Name, Machine: w.Machine, PID: w.PID, Release: w.Release,
			Alive: isAlive(w, l.real), Held: isAlive(w, l.real) && w.Share == 0, Started: w.StartedAt.Time(), Beat: w.RealBeatAt.Time(),
			InFlight: w.InFlight, Visits: w.Visits, Lost: w.Lost})
	}
	if err := l.statusSites(ctx, &s); err != nil {
		return s, err
	}
	if err := l.statusBudgets(ctx, &s); err != nil {
		return s, err
	}
	if err := l.statusSinks(ctx, &s); err != nil {
		return s, err
	}
	if err := l.statusLevels(ctx, &s); err != nil {
		return s, err
	}
	if err := l.statusUnusual(ctx, &s); err != nil {
		return s, err
	}
	if err := l.statusArchive(ctx, &s); err != nil {
		return s, err
	}
	if err := l.statusMissing(ctx, &s); err != nil {
		return s, err
	}
	if err := l.statusHubs(ctx, &s); err != nil {
		return s, err
	}
	hosts, err := l.store.HostSummaries(ctx, models.At(l.now), 1000)
	for _, h := range hosts {
		if h.BackoffUntil.Time().After(l.now) {
			s.Resting++
		}
		s.countSlowed(h.Host, &c.Defaults)
	}
	return s, err
}

// sizeOf adds up the files of a directory whose names begin so; what cannot be read counts as nothing.
func sizeOf(dir, prefix string) int64 {
	var sum int64
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			sum += fileSize(filepath.Join(dir, entry.Name()))
		}
	}
	return sum
}

// statusSites fills in the sites and the day.
func (l *look) statusSites(ctx context.Context, s *status) error {
	states, counted, err := siteStates(ctx, l.store, l.now)
	if err != nil {
		return err
	}
	if !counted.IsZero() {
		s.Counted = &counted
	}
	today := report.DayNumber(l.now)
	days, err := l.store.DailySums(ctx, 0, today, today)
	if err != nil {
		return err
	}
	changes, err := l.store.ChangeCounts(ctx, models.At(l.now.Add(-24*time.Hour)), false)
	if err != nil {
		return err
	}
	for _, row := range l.force.rows {
		site := siteStatus{Name: cmp.Or(row.Name, row.URL), URL: row.URL, Paused: row.Paused, States: map[string]int64{},
			Changes: changes[row.ID][models.EventChanged]}
		for _, st := range states {
			if st.SiteID == row.ID {
				site.add(st)
			}
		}
		for _, d := range days {
			if d.SiteID == row.ID {
				site.Today = dayOf(d)
			}
		}
		s.PerDay += site.PerDay
		s.NoPlan += site.NoPlan
		s.PutOff += site.PutOff
		s.Today = s.Today.plus(site.Today)
		s.Sites = append(s.Sites, site)
	}
	return nil
}

func (s *siteStatus) add(st models.SiteState) {
	s.States[st.State.String()] = st.Pages
	s.Pages += st.Pages
	s.Failing += st.Failing
	s.Requisites += st.Requisites
	s.Due += st.Due
	s.PutOff += st.PutOff
	s.PerDay += st.PerDay
	s.NoPlan += st.NoPlan
	if next := st.NextAt.Time(); st.NextAt != 0 && (s.Next == nil || next.Before(*s.Next)) {
		s.Next = &next
	}
}

func dayOf(d models.Daily) statusDay {
	return statusDay{Visits: d.Asked, NotModified: d.NotModified, Changed: d.Changed, New: d.First, Moved: d.Moved, Gone: d.Gone, Failed: d.Failed,
		Robots: d.Robots, Bytes: d.Bytes, BytesSaved: d.BytesSaved}
}

func (d statusDay) plus(o statusDay) statusDay {
	return statusDay{Visits: d.Visits + o.Visits, NotModified: d.NotModified + o.NotModified, Changed: d.Changed + o.Changed,
		New: d.New + o.New, Moved: d.Moved + o.Moved, Gone: d.Gone + o.Gone, Failed: d.Failed + o.Failed, Robots: d.Robots + o.Robots,
		Bytes: d.Bytes + o.Bytes, BytesSaved: d.BytesSaved + o.BytesSaved}
}

// fileSize is the size of a file, 0 where it cannot be read.
func fileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}
