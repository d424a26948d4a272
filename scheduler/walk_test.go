package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

// strolled is the pages of one host, whose price other hosts' visits move each time that due times are written.
type strolled struct {
	Store
	mind          *Mind
	pages         []models.Page
	moved         map[int64]bool
	passes, moves int
}

func (s *strolled) HostPages(_ context.Context, _ int16, _ int64, yield func(*models.Page) bool) error {
	s.passes++
	slices.SortFunc(s.pages, func(a, b models.Page) int { return cmp.Or(cmp.Compare(a.DueAt, b.DueAt), cmp.Compare(a.ID, b.ID)) })
	for i := range s.pages {
		if !yield(&s.pages[i]) {
			break
		}
	}
	return nil
}

func (s *strolled) Reschedule(_ context.Context, due []models.Due) error {
	for _, d := range due {
		i := slices.IndexFunc(s.pages, func(p models.Page) bool { return p.ID == d.PageID })
		s.pages[i].DueAt, s.moved[d.PageID] = d.DueAt, true
	}
	s.moves += len(due)
	s.mind.mu.Lock()
	defer s.mind.mu.Unlock()
	s.mind.price(allSites).log += 0.001
	return nil
}

// TestAWalkInSlicesEnds: where more pages get new places than are written at a time, each gets one, and soon, also where the
// price moves meanwhile.
func TestAWalkInSlicesEnds(t *testing.T) {
	t.Parallel()
	const pages = 200
	c := testConfig()
	c.Sites[0].Settings.Policy = policy.AdaptiveName
	store := &strolled{moved: map[int64]bool{}}
	m := NewMind(store)
	store.mind = m
	for i := range pages {
		p := livePage()
		p.URL, p.ID, p.Rule = fmt.Sprintf("http://one.test/%d", i), int64(i+1), models.RulePolicy
		p.Stats.Changes, p.Stats.ChangedAt = 3, p.Stats.VisitedAt
		p.Evidence = models.Evidence{Changes: float32(i % 10), Days: 10}
		p.DueAt = models.At(noon.Add(time.Duration(i) * time.Hour))
		store.pages = append(store.pages, p)
	}
	h := &models.Host{Bucket: store.pages[0].Bucket, ID: store.pages[0].HostID, Name: "one.test", Pages: pages}
	visitSome(m, h, 10)
	w, ok := m.walks(h, noon)
	if !ok || !w.all {
		t.Fatalf("nothing is walked anew: %+v", w)
	}
	w.planner, w.slice = testPlanner(t, c).with(m, nil), 20
	over := func() bool { return store.passes > 100 }
	if err := w.stroll(t.Context(), h, over); err != nil {
		t.Fatal(err)
	}
	if store.passes > pages/20+5 || len(store.moved) < pages*9/10 || store.moves > 2*pages {
		t.Errorf("%d of %d pages were placed, with %d writings in %d passes of 20", len(store.moved), pages, store.moves, store.passes)
	}
}

// lasting is a store in which to read a host's pages takes its time.
type lasting struct {
	strolled
	clk  *clock.Virtual
	took time.Duration
}

func (l *lasting) HostPages(ctx context.Context, bucket int16, host int64, yield func(*models.Page) bool) error {
	if err := l.clk.SleepUntil(ctx, l.clk.Now().Add(l.took)); err != nil {
		return err
	}
	return l.strolled.HostPages(ctx, bucket, host, yield)
}

// TestWalksRest: on a fast clock a host's pages are walked as often as on a slow one, but for what the walks take of it.
func TestWalksRest(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{0: walkEvery, time.Second: walkEvery, time.Hour: walkRest * time.Hour} {
		store := &lasting{clk: clock.NewVirtual(noon), took: took}
		m := NewMind(store)
		h := &models.Host{Bucket: 1, ID: 7, Name: "h", Pages: 10}
		planner := testPlanner(t, testConfig()).with(m, newPurses(new(notes), store.clk))
		walks := func() int {
			before := store.passes
			visitSome(m, h, 1)
			if err := m.walk(t.Context(), planner, h, robotsShare{}, store.clk, noon.Add(1000*time.Hour)); err != nil {
				t.Fatal(err)
			}
			return store.passes - before
		}
		rests := func(until time.Time) {
			if err := store.clk.SleepUntil(t.Context(), until); err != nil {
				t.Fatal(err)
			}
		}
		if walks() != 1 {
			t.Fatal("the pages were not walked")
		}
		rests(noon.Add(want - time.Millisecond))
		soon := walks()
		rests(noon.Add(want))
		if again := walks(); soon != 0 || again != 1 {
			t.Errorf("where a walk takes %v there were %d until %v after its beginning, and %d then", took, soon, want, again)
		}
	}
}
