package simulate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"recrawld/models"
)

// Plan says what world to make.
type Plan struct {
	World   string  // one of Worlds
	Pages   int     // 1–10000000
	Hosts   int     // 1–Pages
	Days    float64 // > 0
	Seed    uint64
	Weights bool // pages weigh unequally: log-normal, standard deviation 1 of the logarithm

	// Saturated bounds half of the hosts by politeness: those with every other number may be asked so often a day, for each of
	// their pages, as this; 0: no host is bounded.
	Saturated float64
}

// The rates of a world's pages, after the only large measurements there are: log-normal, with much of the spread between
// hosts, and many pages that hardly ever change.
const (
	medianRate = 0.05 // changes a day
	hostSpread = 1.2  // standard deviations of the logarithm
	pageSpread = 1.0
	stillShare = 0.3   // of the pages, near-static:
	stillRate  = 0.001 // changes a day
	mostRate   = 24.0  // changes a day
)

// worldStart is a Monday.
var worldStart = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// world makes the changes of a page over a span of days, ascending.
type world struct {
	about   string
	profile Profile // shares of the hours of a week in the changes; nil: flat
	changes func(w *maker, host, directory int, d *dice, perDay float64) []float64
	rate    func(w *maker, host int, perDay float64) float64 // what it really is; nil: perDay
}

var worlds = map[string]world{
	"poisson":    {about: "independent changes at each page's own rate", changes: (*maker).poisson},
	"office":     {about: "90 % of the changes in ten hours of five days of the week, by the host's time zone", profile: officeHours(), changes: (*maker).rhythmic},
	"fixed-hour": {about: "95 % of the changes in one hour of the day, the host's own", profile: fixedHour(), changes: (*maker).rhythmic},
	"burst":      {about: "changes come in bursts of six on average, half a day apart", changes: (*maker).bursts},
	"sweep":      {about: "70 % of the changes come when a whole directory changes within an hour", changes: (*maker).sweeps, rate: (*maker).sweptRate},
}

// Worlds lists the names of the worlds in alphabetical order.
func Worlds() []string { return slices.Sorted(maps.Keys(worlds)) }

// AboutWorld says in a few words what a world is like.
func AboutWorld(name string) string { return worlds[name].about }

// Made is a world with what is known of it beforehand.
type Made struct {
	Trace   *Trace
	Sources []Source  // true rates, weights and hosts of the pages, as in Trace.Pages
	Most    []float64 // visits a day that each host lets through; nil: none is bounded
	Profile Profile   // of the week, nil where the world has no rhythm

	gains *gains // for Profile
}

// Make makes a world. It is the same for the same plan.
func Make(p Plan) (Made, error) {
	kind, ok := worlds[p.World]
	switch {
	case !ok:
		return Made{}, fmt.Errorf("no world %q: there is %v", p.World, Worlds())
	case p.Pages < 1 || p.Pages > 10_000_000 || p.Hosts < 1 || p.Hosts > p.Pages:
		return Made{}, fmt.Errorf("a world of %d pages on %d hosts cannot be made", p.Pages, p.Hosts)
	case !(p.Days > 0) || p.Days > 36500:
		return Made{}, fmt.Errorf("a world of %v days cannot be made", p.Days)
	}
	m := &maker{plan: p, kind: kind, dice: dice(p.Seed*0x9e3779b97f4a7c15 + 1), sweep: make(map[[2]int][]float64)}
	if m.made.Profile = kind.profile; m.made.Profile != nil {
		m.made.gains = newGains(m.made.Profile)
	}
	m.made.Trace = &Trace{Name: p.World, From: models.At(worldStart), To: models.At(worldStart) + fromDays(p.Days)}
	for i := range p.Pages {
		m.page(i)
	}
	m.bound()
	return m.made, nil
}

// maker makes a world page by page.
type maker struct {
	plan  Plan
	kind  world
	dice  dice
	made  Made
	sweep map[[2]int][]float64 // times at which a directory of a host changes
}

// directories is how many directories a host has.
const directories = 10

func (m *maker) page(i int) {
	host := i % m.plan.Hosts
	d := m.dice.fork(i)
	directory := d.below(directories)
	perDay := stillRate
	if d.uniform() >= stillShare {
		perDay = min(medianRate*math.Exp(hostSpread*m.dice.fork(-2-host).normal()+pageSpread*d.normal()), mostRate)
	}
	weight := 1.0
	if m.plan.Weights {
		weight = math.Exp(d.normal())
	}
	name := fmt.Sprintf("d%d/p%d", directory, i)
	l := Life{Name: fmt.Sprintf("h%d/%s", host, name), Host: fmt.Sprintf("h%d.world", host), Born: m.made.Trace.From}
	l.URL = "https://" + l.Host + "/" + name
	if m.plan.Weights {
		l.Weight = weight
	}
	last := l.Born
	for _, day := range m.kind.changes(m, host, directory, d, perDay) {
		if at := m.made.Trace.From + fromDays(day); at > last {
			l.Changes, last = append(l.Changes, at), at
		}
	}
	if m.kind.rate != nil {
		perDay = m.kind.rate(m, host, perDay)
	}
	m.made.Trace.Pages = append(m.made.Trace.Pages, l)
	m.made.Sources = append(m.made.Sources, Source{PerDay: perDay, Weight: weight, Host: host})
}

// bound gives half of the hosts a politeness delay that lets through only so much.
func (m *maker) bound() {
	if m.plan.Saturated <= 0 {
		return
	}
	m.made.Trace.Delay = make(map[string]time.Duration)
	m.made.Most = make([]float64, m.plan.Hosts)
	on := make([]int, m.plan.Hosts)
	for _, s := range m.made.Sources {
		on[s.Host]++
	}
	for h := range m.made.Most {
		m.made.Most[h] = math.Inf(1)
		if h%2 == 0 {
			delay := time.Duration(24 * float64(time.Hour) / (m.plan.Saturated * float64(on[h]))).Round(time.Second)
			m.made.Trace.Delay[fmt.Sprintf("h%d.world", h)] = delay
			m.made.Most[h] = 24 * float64(time.Hour) / float64(delay)
		}
	}
}

func fromDays(d float64) models.Instant { return models.Instant(d * 24 * 3600 * 1000) }

// poisson is changes at a constant rate.
func (m *maker) poisson(_, _ int, d *dice, perDay float64) (at []float64) {
	for t := d.exponential() / perDay; t < m.plan.Days; t += d.exponential() / perDay {
		at = append(at, t)
	}
	return at
}

// rhythmic is a Poisson process whose rate follows the profile of the week, shifted to the host's own hours.
func (m *maker) rhythmic(host, _ int, d *dice, perDay float64) (at []float64) {
	shift := float64(m.dice.fork(-2-host).below(24)) / 24
	most := slices.Max(m.kind.profile) * weekHours
	for t := d.exponential() / (perDay * most); t < m.plan.Days; t += d.exponential() / (perDay * most) {
		hour := int((t+shift)*24) % weekHours
		if d.uniform() < m.kind.profile[hour]*weekHours/most {
			at = append(at, t)
		}
	}
	return at
}

// A burst has burstLength changes on average, burstGap days apart on average.
const burstLength, burstGap = 6, 0.5

// bursts is a Poisson process of bursts with a geometric number of changes.
func (m *maker) bursts(_, _ int, d *dice, perDay float64) (at []float64) {
	for t := d.exponential() * burstLength / perDay; t < m.plan.Days; t += d.exponential() * burstLength / perDay {
		at = append(at, t)
		for u := t; d.uniform() > 1.0/burstLength; {
			u += d.exponential() * burstGap
			at = append(at, u)
		}
	}
	slices.Sort(at)
	n, _ := slices.BinarySearch(at, m.plan.Days)
	return at[:n]
}

// sweepShare is the share of the changes that come with the whole directory.
const sweepShare = 0.7

// sweeps is a Poisson process of a page's own and, for the rest of its rate, times at which its directory changes; a page
// that changes more rarely than its directory takes part in some of them.
func (m *maker) sweeps(host, directory int, d *dice, perDay float64) (at []float64) {
	for t := d.exponential() / (perDay * (1 - sweepShare)); t < m.plan.Days; t += d.exponential() / (perDay * (1 - sweepShare)) {
		at = append(at, t)
	}
	key := [2]int{host, directory}
	rate := m.sweepRate(host)
	times, known := m.sweep[key]
	if !known {
		s := m.dice.fork(-1_000_003 - host*directories - directory)
		for t := s.exponential() / rate; t < m.plan.Days; t += s.exponential() / rate {
			times = append(times, t)
		}
		m.sweep[key] = times
	}
	for _, t := range times {
		if d.uniform() < sweepShare*perDay/rate {
			at = append(at, t+d.uniform()/24)
		}
	}
	slices.Sort(at)
	return at
}

// sweepRate is how many times a day each directory of a host changes.
func (m *maker) sweepRate(host int) float64 {
	return min(medianRate*math.Exp(hostSpread*m.dice.fork(-2-host).normal()), mostRate)
}

// sweptRate is the change rate of a page that cannot take part in more sweeps than there are.
func (m *maker) sweptRate(host int, perDay float64) float64 {
	return perDay*(1-sweepShare) + min(perDay*sweepShare, m.sweepRate(host))
}

// weekHours is how many hours a week has.
const weekHours = 168

// Profile is the share of each hour of a week in the changes, from Monday midnight; they add up to 1.
type Profile []float64

// officeHours is 90 % of the changes between 8 and 18 o'clock from Monday to Friday.
func officeHours() Profile {
	return profile(0.9, func(day, hour int) bool { return day < 5 && hour >= 8 && hour < 18 })
}

// fixedHour is 95 % of the changes between 6 and 7 o'clock.
func fixedHour() Profile {
	return profile(0.95, func(_, hour int) bool { return hour == 6 })
}

// profile spreads a share of the changes over the busy hours and the rest over the others.
func profile(share float64, busy func(day, hour int) bool) Profile {
	n := 0
	for h := range weekHours {
		if busy(h/24, h%24) {
			n++
		}
	}
	p := make(Profile, weekHours)
	for h := range p {
		if busy(h/24, h%24) {
			p[h] = share / float64(n)
		} else {
			p[h] = (1 - share) / float64(weekHours-n)
		}
	}
	return p
}
