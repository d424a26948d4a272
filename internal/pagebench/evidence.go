package pagebench

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"recrawld/recrawl/content"
)

// Evidence learns from labelled rows what kinds of difference matter: how often rows that show a kind are changes. The
// zero Evidence is ready for use.
type Evidence struct{ rows []evidenceRow }

// evidenceRow is a labelled row with a good view before and after.
type evidenceRow struct {
	service, page string
	changed       bool
	shows         []content.Difference
}

// Share is a kind of difference with the rows that show it and no kind before it.
type Share struct {
	Kind     string  `json:"kind"`
	Share    float64 `json:"share"` // of changes among its rows, by weight, smoothed
	Same     int     `json:"same"`  // rows without a change
	Changed  int     `json:"changed"`
	Services int     `json:"services"`         // that the rows are of
	Alarms   float64 `json:"false_alarm_rate"` // of all rows, where this kind and those before it count
	Misses   float64 `json:"miss_rate"`

	of content.Difference
}

// Add takes a row, if it has a label, none was left out before it, and the page showed content.
func (e *Evidence) Add(j *Judged) {
	if j.Label == "" || j.Skipped > 0 || j.News || j.Verdict.Kind == content.Transient || j.Verdict.Kind == content.SoftMissing {
		return
	}
	service, _, _ := strings.Cut(j.Page, "/")
	e.rows = append(e.rows, evidenceRow{service: service, page: j.Site + "\x00" + j.Page, changed: j.Label == "1",
		shows: content.Differences(j.Before, j.After)})
}

const (
	smoothing    = 3.0 // rows of weight 1 with the share of the zone's group that each kind starts from
	fewServices  = 2   // services that a kind must be seen on
	leastShare   = 0.1 // below which kinds are not told apart
	evidenceRuns = 6   // splits of the services that Cross takes the mean of
)

// Learn puts the kinds in the order of their shares: the highest first, then the highest of the rows that do not show it,
// and so on.
func (e *Evidence) Learn() []Share {
	same, changed := e.count()
	var list []Share
	alarms, missed := 0, changed
	live, weights := e.rows, e.weights()
	for {
		best, ok := highest(live, weights)
		if !ok {
			return list
		}
		alarms, missed = alarms+best.Same, missed-best.Changed
		best.Alarms, best.Misses = share(alarms, same), share(missed, changed)
		list = append(list, best)
		live = slices.DeleteFunc(slices.Clone(live), func(r evidenceRow) bool { return slices.Contains(r.shows, best.of) })
	}
}

func (e *Evidence) count() (same, changed int) {
	for _, r := range e.rows {
		if r.changed {
			changed++
		} else {
			same++
		}
	}
	return same, changed
}

// label names the rows of a page with one label.
type label struct {
	page    string
	changed bool
}

// weights are those of the rows of a page with one label: 1/√n, as few pages that keep flapping have many rows.
func (e *Evidence) weights() map[label]float64 {
	weights := map[label]float64{}
	for _, r := range e.rows {
		weights[label{r.page, r.changed}]++
	}
	for key, n := range weights {
		weights[key] = 1 / math.Sqrt(n)
	}
	return weights
}

// tally is what the rows say that show a kind.
type tally struct {
	Share
	weight   [2]float64 // without a change, with one
	services map[string]bool
}

// highest is the kind with the highest share among rows.
func highest(rows []evidenceRow, weights map[label]float64) (Share, bool) {
	all := map[content.Difference]*tally{}
	groups := map[string]*[2]float64{}
	for _, r := range rows {
		w, is := weights[label{r.page, r.changed}], 0
		if r.changed {
			is = 1
		}
		for _, kind := range r.shows {
			t := all[kind]
			if t == nil {
				t = &tally{Share: Share{Kind: kind.String(), of: kind}, services: map[string]bool{}}
				all[kind] = t
			}
			t.weight[is] += w
			t.services[r.service] = true
			t.Changed, t.Same = t.Changed+is, t.Same+1-is
			group := groups[groupOf(kind)]
			if group == nil {
				group = &[2]float64{1, 1}
				groups[groupOf(kind)] = group
			}
			group[is] += w
		}
	}
	best := Share{Share: leastShare}
	for kind, t := range all {
		group := groups[groupOf(kind)]
		prior := group[1] / (group[0] + group[1])
		t.Services = len(t.services)
		t.Share.Share = (t.weight[1] + smoothing*prior) / (t.weight[0] + t.weight[1] + smoothing)
		if t.Services >= fewServices && cmp.Or(cmp.Compare(t.Share.Share, best.Share), cmp.Compare(best.Kind, t.Kind)) > 0 {
			best = t.Share
		}
	}
	return best, best.Kind != ""
}

// groupOf are the kinds that lend each other their share where there are few rows.
func groupOf(kind content.Difference) string {
	switch {
	case kind.Detail == content.Picture:
		return "pictures"
	case kind.Zone <= content.Inner:
		return "content"
	case kind.Zone == content.Open || kind.Zone == content.Button:
		return "around"
	}
	return "beside"
}

// Cross says how often kinds learned on some services are right on others: services are dealt to folds, and those of each
// fold are judged by the kinds that stay within a rate of false alarms on the rest.
func (e *Evidence) Cross(folds int, alarmRate float64) (alarms, misses float64) {
	same, changed := e.count()
	var wrong [2]int
	for run := range evidenceRuns {
		for fold := range folds {
			out := func(r evidenceRow) bool { return foldOf(r.service, run, folds) == fold }
			rest := Evidence{rows: slices.DeleteFunc(slices.Clone(e.rows), out)}
			counts := map[content.Difference]bool{}
			for _, s := range rest.Learn() {
				if s.Alarms > alarmRate {
					break
				}
				counts[s.of] = true
			}
			for _, r := range e.rows {
				said := slices.ContainsFunc(r.shows, func(d content.Difference) bool { return counts[d] })
				if out(r) && said != r.changed {
					wrong[map[bool]int{true: 1}[r.changed]]++
				}
			}
		}
	}
	return share(wrong[0], same*evidenceRuns), share(wrong[1], changed*evidenceRuns)
}

// foldOf deals a service to a fold.
func foldOf(service string, run, folds int) int {
	h := fnv.New64a()
	h.Write([]byte{byte(run)})
	h.Write([]byte(strings.ToLower(service)))
	sum := h.Sum64()
	return int((sum ^ sum>>32) % uint64(folds))
}
