package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"recrawld/scheduler/changerate"
)

// known is a host of which a good deal was learned, and its pages as the adaptive policy is asked about them.
type known struct {
	weights *changerate.Weights
	crowd   changerate.Crowd
	urls    []string
	pages   []changerate.Subject
	now     float64
	price   float64
}

// knowing is a host of 1000 pages whose rates differ by orders of magnitude, each visited 30 times.
func knowing() *known {
	k := &known{weights: changerate.Defaults(), now: 20000, price: 0.5}
	dice := rand.New(rand.NewPCG(3, 4))
	rates := make([]float64, 1000)
	for i := range rates {
		url := fmt.Sprintf("https://host.example/section-%d/folder-%d/2026-03-%02d-page-%d.html", i%7, i%40, i%28+1, i)
		k.urls = append(k.urls, url)
		k.pages = append(k.pages, changerate.Subject{Names: changerate.NamesOf(url), KnownAt: k.now, LastAt: k.now, Cycle: 5})
		k.crowd.Known(&k.pages[i], k.now)
		rates[i] = 0.1 * math.Exp(1.5*dice.NormFloat64())
	}
	for range 30 {
		k.now += 5
		for i := range k.pages {
			p := &k.pages[i]
			seen := changerate.Sight{At: k.now + dice.Float64(), Changed: dice.Float64() < -math.Expm1(-5*rates[i])}
			p.Evidence = changerate.Learn(k.weights, &k.crowd, p, seen)
			p.LastAt = seen.At
			p.Visits++
			if seen.Changed {
				p.ChangedAt = seen.At
			}
		}
	}
	k.now += 2
	return k
}

// BenchmarkDecision is what a decision costs: when a page is due and its fr_max.
//
//	index     the due time at the price, where the page's forecast is known: the decision itself
//	forecast  the same with the forecast, from all that is known of the page, its neighbours and its host
//	worker    what the worker does after a visit: the names in the URL are read, and the due time allows for what will
//	          be forecast by then (several forecasts)
//	baseline  100 logarithms, for a comparison of machines
func BenchmarkDecision(b *testing.B) {
	k := knowing()
	forecasts := make([]changerate.Forecast, len(k.pages))
	for i := range k.pages {
		forecasts[i] = changerate.Look(k.weights, &k.crowd, &k.pages[i], k.now)
	}
	in := Input{FRMax: 3, Start: 3, Ceiling: 1000, Cycle: 24 * time.Hour, Even: 5 * 24 * time.Hour}
	decide := func(f changerate.Forecast, due float64, i int) {
		in.Outlook = Outlook{Forecast: f, DueIn: due, Price: k.price, Chance: float64(i%16) / 16}
		if c := Adaptive(in); c.FRMax < 1 {
			b.Fatal(c)
		}
	}
	for _, way := range []struct {
		name string
		once func(i int)
	}{
		{"index", func(i int) { decide(forecasts[i], forecasts[i].DueIn(k.price), i) }},
		{"forecast", func(i int) {
			f := changerate.Look(k.weights, &k.crowd, &k.pages[i], k.now)
			decide(f, f.DueIn(k.price), i)
		}},
		{"worker", func(i int) {
			page := k.pages[i]
			page.Names = changerate.NamesOf(k.urls[i])
			f := changerate.Look(k.weights, &k.crowd, &page, k.now)
			decide(f, changerate.DueIn(k.weights, &k.crowd, &page, k.now, k.price), i)
		}},
		{"baseline", func(i int) {
			sum := 0.0
			for n := range 100 {
				sum += math.Log(float64(i + n + 1))
			}
			if sum < 0 {
				b.Fatal(sum)
			}
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			began := cpuTime(b)
			for i := 0; b.Loop(); i++ {
				way.once(i % len(k.pages))
			}
			b.ReportMetric(float64(b.N)/(cpuTime(b)-began).Seconds(), "decisions/cpu-s")
		})
	}
}

// cpuTime is what the process used of its processors so far: the measure on a machine that others use as well.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
