package recrawl

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/scheduler"
)

// kept is a Past that holds what it is given. Its fault, where set, is what it answers with.
type kept struct {
	mu       sync.Mutex
	memories map[int64][]byte       // guarded by mu
	bodies   map[int64]side         // guarded by mu
	fault    error                  // guarded by mu
	asked    int                    // guarded by mu; for bodies
	reading  func()                 // called for each body; nil: nothing is
	damaged  error                  // where a body is read
	pages    map[string]models.Page // of the life; not changed while a visit is under way
}

func newKept() *kept {
	return &kept{memories: make(map[int64][]byte), bodies: make(map[int64]side)}
}

func (k *kept) Memory(_ context.Context, _ int16, _, page int64) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.memories[page], k.fault
}

func (k *kept) Page(_ context.Context, _ int16, id int64) (models.Page, error) {
	for _, page := range k.pages {
		if page.ID == id {
			return page, nil
		}
	}
	return models.Page{}, models.ErrNotFound
}

func (k *kept) Body(_ context.Context, page *models.Page) ([]byte, string, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	if k.reading != nil {
		k.reading()
	}
	held, ok := k.bodies[page.ID]
	return held.body, held.kind, ok && k.damaged == nil, cmp.Or(k.fault, k.damaged)
}

// keep takes over what a visit left.
func (k *kept) keep(r *models.Result, out *models.Outcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.Version != nil {
		k.bodies[r.Page.ID] = side{out.Body, headerField(out.Header, "Content-Type")}
	}
	if len(r.Memory) > 0 {
		k.memories[r.Page.ID] = r.Memory
	}
	if len(r.HostMemory) > 0 {
		k.memories[models.HostMemoryID] = r.HostMemory
	}
}

func headerField(head []byte, name string) string {
	for line := range strings.Lines(string(head)) {
		if key, value, _ := strings.Cut(line, ":"); http.CanonicalHeaderKey(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// life is the pages of one host as they live on under the planner, a day from visit to visit.
type life struct {
	*rig
	t       *testing.T
	past    *kept
	planner *scheduler.Planner
	step    time.Duration // between two visits; a day
	rules   string        // the robots.txt
	host    models.Host
	pages   map[string]models.Page
}

func newLife(t *testing.T, edit func(*Config, *config.Settings)) *life {
	t.Helper()
	l := &life{t: t, step: 24 * time.Hour, past: newKept(), pages: make(map[string]models.Page)}
	l.past.pages = l.pages
	l.rig = newRig(t, func(c *Config, s *config.Settings) {
		c.Past, c.Limits.Compare = l.past, 20*time.Second // the machine may be busy
		s.Audit, s.Probe, s.Delay = 0, 0, 0
		if edit != nil {
			edit(c, s)
		}
	})
	c := config.Default()
	c.Cycle, c.Defaults = "1h", l.settings
	var err error
	if l.planner, err = scheduler.NewPlanner(&c, nil); err != nil {
		t.Fatal(err)
	}
	return l
}

// turn gives a page its turn, a step after the one before, and takes over what came of it.
func (l *life) turn(url string) models.Outcome {
	l.t.Helper()
	page, known := l.pages[url]
	if !known {
		page = pageOf(l.t, url)
		l.host.Name = strings.TrimPrefix(strings.Split(url, "/")[2], "www.")
	}
	if err := l.clock.SleepUntil(l.t.Context(), l.clock.Now().Add(l.step)); err != nil {
		l.t.Fatal(err)
	}
	now := l.clock.Now()
	row := robotsRow(l.t, page, l.rules)
	row.FetchedAt, row.GoodAt, row.ExpiresAt = models.At(now), models.At(now), models.At(now.Add(time.Hour))
	l.host.LeaseToken++
	lease := models.Lease{Host: l.host, Robots: []models.Robots{row}}
	out := l.Visit(l.t.Context(), models.Turn{Host: lease.Host, Robots: lease.Robots, Page: models.LeasedPage{Page: page}, Now: now})
	r := l.planner.Plan(&lease, page, &out, now)
	l.past.keep(&r, &out)
	l.pages[url], l.host = r.Page, r.Host
	return out
}

// trusts tells whether a hint of the host is trusted.
func (l *life) trusts(h models.Hint) bool { return l.host.Trials.Trusts(h) }

// until gives a page turns, each after a call of before with its number, until done says so; it fails after most of them.
func (l *life) until(url string, most int, before func(n int), done func(models.Outcome) bool) {
	l.t.Helper()
	for n := range most {
		if before != nil {
			before(n)
		}
		if done(l.turn(url)) {
			return
		}
	}
	l.t.Fatalf("not in %d visits; trials %+v", most, l.host.Trials)
}

// lastAsked is the last request of an origin.
func lastAsked(t *testing.T, o *hostile.Origin) hostile.Request {
	t.Helper()
	all := o.Requests()
	if len(all) == 0 {
		t.Fatal("nothing was asked")
	}
	return all[len(all)-1]
}
