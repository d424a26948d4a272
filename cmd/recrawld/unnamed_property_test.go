package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// restless is a site whose pages name other assets from day to day, give some up and take them back. Styles name others, some assets lead to
// others, and pages and styles are not there for days.
type restless struct {
	dice   *rand.Rand
	day    int
	calm   int // the day from which on nothing changes
	names  map[string][]string
	absent map[string]int // until which day
}

const (
	restlessPages  = 5
	restlessAssets = 16 // of which every fourth is a style, and two lead elsewhere
)

func newRestless(seed uint64, calm int) *restless {
	r := &restless{dice: rand.New(rand.NewPCG(seed, 0)), day: -1, calm: calm, names: make(map[string][]string), absent: make(map[string]int)}
	r.turn(0)
	return r
}

func assetPath(n int) string {
	return fmt.Sprintf("/assets/a%d.%s", n, []string{"css", "png", "js", "woff2"}[n%4])
}

// turn lets days pass.
func (r *restless) turn(day int) {
	for ; r.day < day; r.day++ {
		if r.day+1 >= r.calm && r.day >= 0 {
			continue
		}
		for i := range restlessPages {
			r.change(fmt.Sprintf("/p%d", i), 0.3, 2)
		}
		for n := range restlessAssets {
			switch {
			case n%4 == 0:
				r.change(assetPath(n), 0.1, 1)
			case n == 5, n == 9:
				r.change(assetPath(n), 0.1, 1) // where it leads
			}
		}
	}
}

// change redraws what a path names, and whether it is there.
func (r *restless) change(path string, chance float64, most int) {
	if r.names[path] == nil || r.dice.Float64() < chance {
		var names []string
		for range 1 + r.dice.IntN(most) {
			names = append(names, assetPath(r.dice.IntN(restlessAssets)))
		}
		r.names[path] = names
	}
	if r.day+14 < r.calm && r.dice.Float64() < 0.02 {
		r.absent[path] = r.day + 2 + r.dice.IntN(12)
	}
}

func (r *restless) answer(path string, _ time.Time) string {
	names := r.names[path]
	switch {
	case r.absent[path] > r.day:
		return ""
	case path == "/":
		links := "<title>Home</title>"
		for i := range restlessPages {
			links += fmt.Sprintf("<a href=/p%d>page %d</a> ", i, i)
		}
		return links
	case strings.HasPrefix(path, "/p") && names != nil:
		return fmt.Sprintf("<title>Page %s</title><p>What stands on %s.<a href=/>home</a><img src=%s>", path, path, strings.Join(names, "><img src="))
	case strings.HasSuffix(path, ".css"):
		return "a { background: url(" + strings.Join(names, ") } b { background: url(") + ") }"
	case names != nil && names[0] != path:
		return "to " + names[0]
	case strings.HasPrefix(path, "/assets/"):
		return "what lies at " + path
	}
	return ""
}

// strides is a pass that goes on by a page for each visit.
type strides struct {
	resume, paused, ended chan struct{}
	stop                  context.CancelFunc
	pass                  *unnamed
	err                   error
}

func (w *deploying) beginStrides(ctx context.Context) *strides {
	s := &strides{resume: make(chan struct{}), paused: make(chan struct{}), ended: make(chan struct{})}
	ctx, s.stop = context.WithCancel(ctx)
	counts, err := w.store.PageCounts(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	s.pass = newUnnamed(w.store, w.past, w.force.Load(), counts, w.clk.Now(), func(ctx context.Context) (bool, error) {
		s.paused <- struct{}{}
		<-s.resume
		return ctx.Err() == nil, nil
	})
	s.pass.slice, s.pass.rows = 1, 1
	go func() {
		defer close(s.ended)
		<-s.resume
		_, s.err = s.pass.run(ctx, w.clk.Now)
	}()
	return s
}

// step lets it go on and tells whether it has ended.
func (s *strides) step() bool {
	s.resume <- struct{}{}
	select {
	case <-s.paused:
		return false
	case <-s.ended:
		return true
	}
}

// named are the paths that the newest copies of pages name, and where these lead, but for what is named by those that are about to be visited
// because they are named again, or were just now and are not there.
func (w *deploying) named(pages map[string]models.Page) map[string]bool {
	w.t.Helper()
	named := make(map[string]bool)
	var follow func(p models.Page)
	follow = func(p models.Page) {
		if p.State == models.StateGone || p.Rule == models.RuleNamed || p.Requisite && p.State == models.StateMissing {
			return
		}
		names := []string{strings.TrimPrefix(p.RedirectTo, w.base)}
		if !p.LeadsAway() || p.State == models.StateMissing {
			names = append(names, w.assetsIn(&p)...)
		}
		for _, path := range names {
			if to, known := pages[path]; known && !named[path] {
				named[path] = true
				follow(to)
			}
		}
	}
	for _, p := range pages {
		if !p.Requisite {
			follow(p)
		}
	}
	return named
}

// TestNothingThatIsNamedIsGivenUp follows restless sites, with one pass after the other beside the visits, a page of it for each visit, some of which
// are killed: at no moment is anything given up that a current copy names. Once a site is calm, all else is.
func TestNothingThatIsNamedIsGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("the passes and the visits take turns here")
	}
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			const calm, days = 60, 100
			site := newRestless(seed, calm)
			w := newDeploying(t, site.answer)
			force := w.force.Load()
			s := force.sites[w.site.ID]
			s.site.Settings.GoneVisits, s.site.Settings.GoneOver = 2, 24*time.Hour
			force.sites[w.site.ID] = s
			var pass *strides
			var given, again, passes, looked, seen int
			w.beside = func(ctx context.Context) {
				site.turn(w.day())
				if pass == nil {
					pass, seen = w.beginStrides(context.WithoutCancel(ctx)), 0
				}
				if looked++; looked%400 == 0 {
					pass.stop()
				}
				ended := pass.step()
				if pass.pass.found.givenUp > seen || looked%40 == 0 || ended {
					seen = pass.pass.found.givenUp
					pages := w.pages()
					for path := range w.named(pages) {
						if p := pages[path]; p.GivenUp() {
							t.Errorf("day %d: %s is named by a current copy and is given up", w.day(), path)
						}
					}
				}
				if !ended {
					return
				}
				if pass.err != nil && !errors.Is(pass.err, context.Canceled) {
					t.Error(pass.err)
				}
				given, again, passes, pass = given+pass.pass.found.givenUp, again+pass.pass.found.again, passes+1, nil
			}
			w.follow(days)
			for pass != nil && !pass.step() {
			}
			pages := w.pages()
			named := w.named(pages)
			var rest []string
			for path, p := range pages {
				if p.Requisite && p.GivenUp() == named[path] {
					rest = append(rest, fmt.Sprintf("%s named: %v, given up: %v", path, named[path], p.GivenUp()))
				}
			}
			if slices.Sort(rest); len(rest) > 0 {
				t.Errorf("when all was calm for %d days: %v", days-calm, rest)
			}
			t.Logf("%d passes gave up %d requisites and found %d named again; %d of %d are named", passes, given, again, len(named), restlessAssets)
			if passes < 10 || given < 10 {
				t.Errorf("%d passes gave up %d requisites: too few to show anything", passes, given)
			}
		})
	}
}
