package changerate

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"recrawld/internal/shared"
)

// livePage is a page of a trace: when it was born, when it changed, when it was deleted. In days since the trace began.
type livePage struct {
	name    string
	changes []float64 // the first is its birth
	noise   []float64 // when its bytes alone changed
	dead    float64   // +Inf: never
}

// liveTrace is a history of changes, each page of it in order of birth.
type liveTrace struct {
	pages []livePage
	begin float64 // days since 1970
	span  float64 // days
}

// perDay is the budget, in visits a day, that allows so many visits for each change.
func (t *liveTrace) perDay(visits float64) float64 {
	var changes, days float64
	for _, p := range t.pages {
		changes += float64(len(p.changes) - 1)
		days += min(p.dead, t.span) - p.changes[0]
	}
	return visits * changes / days * float64(len(t.pages))
}

// readTrace reads a trace. Where it says which changes mean something, only those count.
func readTrace(b *testing.B, name string) *liveTrace {
	b.Helper()
	f, err := os.Open(shared.Path(b, "traces/"+name+".csv.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	rows := csv.NewReader(z)
	rows.FieldsPerRecord = -1
	if _, err := rows.Read(); err != nil {
		b.Fatal(err)
	}
	t := new(liveTrace)
	place, body := map[string]int{}, map[string]string{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		t.addRow(row, place, body)
	}
	return t
}

// addRow takes in page, t, size, blob, op, batch and perhaps meaningful. Rows come in the order of time.
func (t *liveTrace) addRow(row []string, place map[string]int, body map[string]string) {
	seconds, _ := strconv.ParseFloat(row[1], 64)
	if t.begin == 0 {
		t.begin = seconds / 86400
	}
	name, at := row[0], seconds/86400-t.begin
	t.span = max(t.span, at)
	i, known := place[name]
	switch {
	case row[4][0] == 'd' || row[4][0] == 'D':
		if known {
			t.pages[i].dead = at
		}
		return
	case !known:
		place[name] = len(t.pages)
		t.pages = append(t.pages, livePage{name: name, changes: []float64{at}, dead: math.Inf(1)})
	default:
		t.pages[i].dead = math.Inf(1)
		switch {
		case body[name] == row[3]:
		case len(row) > 6 && row[6] == "0":
			t.pages[i].noise = append(t.pages[i].noise, at)
		default:
			t.pages[i].changes = append(t.pages[i].changes, at)
		}
	}
	body[name] = row[3]
}

// tracePage is a page while a trace is replayed.
type tracePage struct {
	*livePage
	subject  Subject
	next     int // the first change after the last visit
	louder   int // the first noise after it
	gone     bool
	forecast Forecast
	fixed    float64 // when the forecast was made
	value    float64
}

// replay visits the pages of a trace tick by tick, each time those worth most, as far as the budget goes, and measures
// the share of time that they were fresh. The first quarter only teaches.
type replay struct {
	trace        *liveTrace
	weights      *Weights
	crowd        Crowd
	pages        []tracePage
	now          float64 // days since the trace began
	fresh, live  float64
	roundRobin   bool
	seeBytes     bool // noise is taken for a change
	calibration  Calibration
	forecasts    int
	budget, from float64
	ticks        int
	candidates   []int
	born, alive  int
}

func (r *replay) run() float64 {
	r.from = r.trace.span / 4
	tick := min(r.trace.span/2000, 0.1*float64(len(r.trace.pages))/r.budget)
	credit := 0.0
	for ; r.now < r.trace.span; r.now += tick {
		r.birth()
		credit += r.budget * tick
		if visits := int(credit); visits > 0 {
			credit -= float64(visits)
			r.ticks++
			for _, i := range r.pick(visits) {
				r.visit(&r.pages[i])
			}
		}
	}
	for i := range r.pages {
		if !r.pages[i].gone {
			r.account(&r.pages[i], r.trace.span)
		}
	}
	return r.fresh / r.live
}

// birth makes the pages known that came to be.
func (r *replay) birth() {
	for ; r.born < len(r.trace.pages) && r.trace.pages[r.born].changes[0] <= r.now; r.born++ {
		p := tracePage{livePage: &r.trace.pages[r.born], fixed: -1}
		at := r.trace.begin + r.now
		p.subject = Subject{Names: NamesOf(p.name), KnownAt: at, LastAt: at, New: r.now > 0}
		for p.next < len(p.changes) && p.changes[p.next] <= r.now {
			p.next++
		}
		p.gone = p.dead <= r.now
		if !p.gone {
			r.alive++
			r.crowd.Known(&p.subject, at)
		}
		r.pages = append(r.pages, p)
	}
}

// pick lists the pages worth most. Forecasts are renewed every fourth tick and after a visit; those of the best always.
func (r *replay) pick(visits int) []int {
	r.candidates = r.candidates[:0]
	at := r.trace.begin + r.now
	for i := range r.pages {
		p := &r.pages[i]
		if p.gone {
			continue
		}
		r.candidates = append(r.candidates, i)
		if r.roundRobin {
			p.value = at - p.subject.LastAt
			continue
		}
		if p.fixed < 0 || (i+r.ticks)%4 == 0 {
			r.look(p, at)
		}
		f := p.forecast
		f.Elapsed += (at - p.fixed) * f.News
		f.Passed += at - p.fixed
		p.value = f.Value()
	}
	if r.roundRobin {
		return r.best(visits)
	}
	for _, i := range r.best(2*visits + 50) {
		r.look(&r.pages[i], at)
	}
	r.candidates = r.candidates[:min(2*visits+50, len(r.candidates))]
	return r.best(visits)
}

// best moves the candidates worth most to the front.
func (r *replay) best(count int) []int {
	c := r.candidates
	value := func(i int) float64 { return r.pages[c[i]].value }
	for low, high := 0, len(c)-1; low < high && count < len(c); {
		pivot, i, j := value((low+high)/2), low, high
		for i <= j {
			for value(i) > pivot {
				i++
			}
			for value(j) < pivot {
				j--
			}
			if i <= j {
				c[i], c[j] = c[j], c[i]
				i, j = i+1, j-1
			}
		}
		if count <= j {
			high = j
		} else if count >= i {
			low = i
		} else {
			break
		}
	}
	return c[:min(count, len(c))]
}

func (r *replay) look(p *tracePage, at float64) {
	p.subject.Cycle = float64(r.alive) / r.budget
	p.forecast, p.fixed = Look(r.weights, &r.crowd, &p.subject, at), at
	p.value = p.forecast.Value()
	r.forecasts++
}

func (r *replay) visit(p *tracePage) {
	r.account(p, r.now)
	if p.dead <= r.now {
		p.gone = true
		r.alive--
		return
	}
	seen := Sight{At: r.trace.begin + r.now}
	for ; p.next < len(p.changes) && p.changes[p.next] <= r.now; p.next++ {
		seen.Changed = true
	}
	for ; p.louder < len(p.noise) && p.noise[p.louder] <= r.now; p.louder++ {
		seen.Changed = seen.Changed || r.seeBytes
	}
	if !r.roundRobin {
		p.subject.Cycle = float64(r.alive) / r.budget
		if r.now >= r.from {
			r.calibration.Add(Look(r.weights, &r.crowd, &p.subject, seen.At).Stale(), seen.Changed)
		}
		p.subject.Evidence = Learn(r.weights, &r.crowd, &p.subject, seen)
	}
	p.fixed = -1
	p.subject.LastAt = seen.At
	p.subject.Visits++
	if seen.Changed {
		p.subject.ChangedAt = seen.At
	}
}

// account measures a page from its last visit on.
func (r *replay) account(p *tracePage, until float64) {
	begin, end := max(p.subject.LastAt-r.trace.begin, r.from), min(until, p.dead)
	if end <= begin {
		return
	}
	r.live += end - begin
	stale := end
	if p.next < len(p.changes) {
		stale = min(end, p.changes[p.next])
	}
	r.fresh += max(0, stale-begin)
}

// clairvoyant is a bound that no order of visits passes: as many of the longest times between two changes as there are
// visits, and what the first record of each page gives.
func (t *liveTrace) clairvoyant(perDay float64) float64 {
	from := t.span / 4
	var gaps []float64
	var fresh, live float64
	for _, p := range t.pages {
		end := min(p.dead, t.span)
		live += max(0, end-max(from, p.changes[0]))
		for i, c := range p.changes {
			until := end
			if i+1 < len(p.changes) {
				until = min(end, p.changes[i+1])
			}
			gap := until - max(c, from)
			switch {
			case gap <= 0:
			case i == 0 || c <= from:
				fresh += gap
			default:
				gaps = append(gaps, gap)
			}
		}
	}
	slices.SortFunc(gaps, func(a, b float64) int { return cmp.Compare(b, a) })
	for _, gap := range gaps[:min(len(gaps), int(perDay*(t.span-from)))] {
		fresh += gap
	}
	return fresh / live
}

// BenchmarkTraces replays histories of real pages, each page of one taken for the same host, with 0.3, 1 and 3 visits a
// change, and reports how far the freshness lies between that of visiting in turn (score 0) and that of a clairvoyant
// (1); the Brier score, and by how much predicted and observed chances of a change differ at most in a decile.
//
// TRACES=name,name in the environment chooses others of the shared traces.
func BenchmarkTraces(b *testing.B) {
	names := "ota-contrib,rss-feeds,scoop-main"
	for name := range strings.SplitSeq(cmp.Or(os.Getenv("TRACES"), names), ",") {
		b.Run(name, func(b *testing.B) {
			trace := readTrace(b, name)
			for b.Loop() {
				sum := 0.0
				for _, visits := range []float64{0.3, 1, 3} {
					sum += score(b, trace, visits, false)
				}
				b.ReportMetric(sum/3, "score")
			}
		})
	}
}

// BenchmarkNoise is the same where each change of the bytes is taken for one that means something: nearly every visit
// finds one. The goal is to do no worse than visiting in turn.
func BenchmarkNoise(b *testing.B) {
	for _, name := range []string{"ota-raw", "rss-feeds"} {
		b.Run(name, func(b *testing.B) {
			trace := readTrace(b, name)
			for b.Loop() {
				for _, visits := range []float64{0.3, 1, 3} {
					score(b, trace, visits, true)
				}
			}
		})
	}
}

func score(b *testing.B, trace *liveTrace, visits float64, seeBytes bool) float64 {
	budget := trace.perDay(visits)
	turns := replay{trace: trace, budget: budget, roundRobin: true}
	ours := replay{trace: trace, budget: budget, weights: Defaults(), seeBytes: seeBytes}
	base, best := turns.run(), trace.clairvoyant(budget)
	score := (ours.run() - base) / (best - base)
	b.ReportMetric(score, fmt.Sprintf("score@%g", visits))
	b.ReportMetric(ours.calibration.Brier(), fmt.Sprintf("Brier@%g", visits))
	b.ReportMetric(ours.calibration.Worst(), fmt.Sprintf("off@%g", visits))
	return score
}
