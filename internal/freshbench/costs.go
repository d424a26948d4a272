package main

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"recrawld/models"
	"recrawld/scheduler/changerate"
	"recrawld/simulate"
)

// costs measures what the adaptive policy takes.
func (b *bench) costs(ctx context.Context) error {
	b.title("Costs of the adaptive policy")
	b.atLeast("5. decisions a second on one core: a forecast and its due time", b.decisions(), 1e6)
	var p models.Page
	row := unsafe.Sizeof(p.Evidence) + unsafe.Sizeof(p.Importance) + unsafe.Sizeof(p.DueAt) + unsafe.Sizeof(p.FRMax) + unsafe.Sizeof(p.Wanted) +
		unsafe.Sizeof(p.Stats.FirstAt) + unsafe.Sizeof(p.Stats.VisitedAt) + unsafe.Sizeof(p.Stats.ChangedAt) + unsafe.Sizeof(p.Stats.Records)
	b.atMost("5. bytes of a page's row that it reads and writes", float64(row), 64)
	fmt.Fprintf(b.out, "  %-66s not measured: RECRAWLD_BALANCE=10000000 go test -run '^$' -bench Balance -benchtime 1x -v ./simulate does\n",
		"5. a budget halved or doubled is kept within a minute")
	s, err := b.world(simulate.Plan{World: "poisson"})
	if err != nil {
		return err
	}
	for _, policy := range []string{"adaptive", "nutch"} {
		trials, err := trialsOf(s, "1/page/day", simulate.Sight{}, []string{policy})
		if err != nil {
			return err
		}
		r, err := trials[0].Do(ctx, b.now) // alone, so that the other processor does not slow it down
		if err != nil {
			return err
		}
		speed := float64(len(r.Log)) / r.Took.Seconds()
		if policy == "adaptive" {
			b.atMost("5. bytes a URL that are known of hosts and of all pages together", float64(r.Knowledge)/float64(len(s.Trace.Pages)), 64)
			fmt.Fprintf(b.out, "  %-66s %8.0f   (its forecasts included)\n", "simulated visits a second, adaptive", speed)
			continue
		}
		b.atLeast("simulated visits a second, cheap policy", speed, 300_000)
	}
	return nil
}

// decisions is how often a second a page's rate is forecast and its due time solved.
func (b *bench) decisions() float64 {
	weights, crowd := changerate.Defaults(), new(changerate.Crowd)
	pages := make([]changerate.Subject, 1000)
	for i := range pages {
		pages[i] = changerate.Subject{Names: changerate.NamesOf(fmt.Sprintf("https://h.example/d%d/p%d.html", i%10, i)), Cycle: 5}
		crowd.Known(&pages[i], 0)
	}
	for day := 1; day <= 5; day++ {
		for i := range pages {
			p, now := &pages[i], float64(day)+float64(i)/1000
			seen := changerate.Sight{At: now, Changed: (i+day)%7 == 0}
			p.Evidence = changerate.Learn(weights, crowd, p, seen)
			p.LastAt, p.Visits = now, p.Visits+1
			if seen.Changed {
				p.ChangedAt = now
			}
		}
	}
	n, sum := 0, 0.0
	began := b.now()
	for b.now().Sub(began) < time.Second {
		for i := range pages {
			sum += changerate.Look(weights, crowd, &pages[i], 7+float64(n%100)/100).DueIn(0.3)
		}
		n += len(pages)
	}
	if sum < 0 { // it is never; but it is used
		return 0
	}
	return float64(n) / b.now().Sub(began).Seconds()
}
