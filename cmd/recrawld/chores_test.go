package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"recrawld/scheduler"
)

// A machine that is switched off every night, or a daemon that is started anew every day, must not keep its history for ever.
func TestOldRowsAreRemovedByADaemonThatRunsForHours(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	for _, name := range []string{"history", "events"} {
		jobs := d.jobs()
		i := slices.IndexFunc(jobs, func(j scheduler.Job) bool { return j.Name == name })
		began := d.clock.Now()
		first := jobs[i].Next(began)
		if wait := first.Sub(began); wait < time.Minute || wait > 2*time.Hour {
			t.Errorf("%s is done first %v after the start, want some minutes", name, wait)
		}
		if wait := jobs[i].Next(first).Sub(first); wait != 24*time.Hour {
			t.Errorf("%s is done again after %v, want a day", name, wait)
		}
	}
}

// What /metrics says from the first moment on is true: what is not read yet is not there, and it is read at the start.
func TestFiguresAreReadAtTheStart(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	read := []string{"recrawld_urls", "recrawld_due", "recrawld_failing", "recrawld_overdue_seconds_max", "recrawld_sink_buckets_behind",
		"recrawld_sink_withheld_pages", "recrawld_sink_trouble"}
	has := func(name string) bool {
		families, err := d.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == name })
	}
	for _, name := range read {
		if has(name) {
			t.Errorf("%s is there before it was read", name)
		}
	}
	jobs, began := d.jobs(), d.clock.Now()
	figures := jobs[slices.IndexFunc(jobs, func(j scheduler.Job) bool { return j.Name == "figures" })]
	if next := figures.Next(began); !next.Equal(began) {
		t.Errorf("the figures are read %v after the start, want at once", next.Sub(began))
	}
	sinks := jobs[slices.IndexFunc(jobs, func(j scheduler.Job) bool { return j.Name == "sinks" })]
	if next := sinks.Next(began); !next.Equal(began) || sinks.Next(began).Sub(began) > 10*time.Second {
		t.Errorf("what sinks are in is read %v after the start, want at once, and again within 10 s", next.Sub(began))
	}
	if err := errors.Join(figures.Run(t.Context(), began), sinks.Run(t.Context(), began)); err != nil {
		t.Fatal(err)
	}
	for _, name := range read {
		if !has(name) {
			t.Errorf("%s is not there after it was read", name)
		}
	}
	if wait := figures.Next(began).Sub(began); wait != time.Minute {
		t.Errorf("the figures are read again after %v, want a minute", wait)
	}
}

// metricName is how our metrics begin, where a document names them.
var metricName = regexp.MustCompile(`\brecrawld_[a-z_]+[a-z]\b`)

// Every metric that the documents name is there.
func TestMetricsOfTheDocuments(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		d.registry.Describe(described)
	}()
	var there []string
	for desc := range described {
		there = append(there, metricName.FindString(desc.String()))
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range metricName.FindAllString(string(text), -1) {
			if named++; !slices.Contains(there, name) {
				t.Errorf("%s names %s, which is no metric of ours", page, name)
			}
		}
	}
	if named < 8 {
		t.Errorf("the documents name %d metrics: read wrongly", named)
	}
}
