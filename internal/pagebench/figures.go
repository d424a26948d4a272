package pagebench

import (
	"slices"
	"time"

	"recrawld/recrawl/content"
)

// Figure counts how often one way to judge agreed with the labels.
type Figure struct {
	Name        string  `json:"name"`
	FalseAlarms int     `json:"false_alarms"` // label 0, judged a change
	Misses      int     `json:"misses"`       // label 1, judged no change
	AlarmRate   float64 `json:"false_alarm_rate"`
	MissRate    float64 `json:"miss_rate"`
}

// Figures are what a run showed.
type Figures struct {
	Rows      int     `json:"rows"`      // that count
	Negatives int     `json:"negatives"` // of those, label 0
	Positives int     `json:"positives"` // label 1
	AlarmRate float64 `json:"false_alarm_rate"`
	MissRate  float64 `json:"miss_rate"`
	MsP50     float64 `json:"ms_p50"` // reading a body and judging it, over all bodies but the first of a page
	MsP99     float64 `json:"ms_p99"`

	// Rungs are the simpler ways, and the judge last: without and with the news of shells.
	Rungs []Figure `json:"rungs"`

	Transient int            `json:"transient"` // rows judged to be without content
	Kinds     map[string]int `json:"verdicts"`  // of the rows that count, by the verdict's word
}

// Count gathers the figures of a run. The zero Count is ready for use.
type Count struct {
	All bool // rows with bodies left out before them count too

	figures Figures
	rungs   []Figure
	took    []time.Duration
}

// Changed tells whether a row counts as a change: the judge says so, or the page came into or out of a state without
// content in which a reader still sees the page.
func (j *Judged) Changed() bool { return j.Verdict.Kind == content.Change && !j.SameText || j.News }

// Counts tells whether a row counts: it has a label, and no body was left out before it unless all count.
func (c *Count) Counts(j *Judged) bool { return j.Label != "" && (c.All || j.Skipped == 0) }

// Add counts a row.
func (c *Count) Add(j *Judged) {
	c.took = append(c.took, j.Took)
	if !c.Counts(j) {
		return
	}
	if c.rungs == nil {
		c.begin()
	}
	f := &c.figures
	f.Rows++
	f.Kinds[j.Verdict.Kind.String()]++
	label := j.Label == "1"
	if label {
		f.Positives++
	} else {
		f.Negatives++
	}
	if j.Verdict.Kind == content.Transient {
		f.Transient++
	}
	said := append(slices.Clone(j.Rungs), j.Verdict.Kind == content.Change && !j.SameText, j.Changed())
	for i, changed := range said {
		if changed && !label {
			c.rungs[i].FalseAlarms++
		}
		if !changed && label {
			c.rungs[i].Misses++
		}
	}
}

// Names of the judge among the rungs.
const (
	judgeAlone = "judge, shells held"
	judge      = "judge"
)

func (c *Count) begin() {
	names, _ := content.Rungs()
	for _, name := range append(names, judgeAlone, judge) {
		c.rungs = append(c.rungs, Figure{Name: name})
	}
	c.figures.Kinds = map[string]int{}
}

// Figures are those of the rows so far.
func (c *Count) Figures() Figures {
	f := c.figures
	f.Rungs = slices.Clone(c.rungs)
	for i := range f.Rungs {
		r := &f.Rungs[i]
		r.AlarmRate, r.MissRate = share(r.FalseAlarms, f.Negatives), share(r.Misses, f.Positives)
		f.AlarmRate, f.MissRate = r.AlarmRate, r.MissRate // the judge is the last
	}
	took := slices.Sorted(slices.Values(c.took))
	f.MsP50, f.MsP99 = quantile(took, 0.5), quantile(took, 0.99)
	return f
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// quantile is in milliseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[int(q*float64(len(sorted)-1))]) / float64(time.Millisecond)
}
