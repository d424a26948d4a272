package origin

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Gap is the time between the end of one answer of a host and the start of the next request to it; negative where they
// overlap.
type Gap struct {
	Host string
	Took time.Duration // by the origin's clock
	Next Entry
}

// Gaps lists the gaps of every host, in the order of the requests that end them.
func Gaps(entries []Entry) []Gap {
	var gaps []Gap
	ends := map[string]time.Time{}
	for _, e := range byStart(entries) {
		if end, ok := ends[e.Host]; ok {
			gaps = append(gaps, Gap{Host: e.Host, Took: e.Start.Sub(end), Next: e})
		}
		if e.End.After(ends[e.Host]) {
			ends[e.Host] = e.End
		}
	}
	return gaps
}

func byStart(entries []Entry) []Entry {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return a.Start.Compare(b.Start) })
	return sorted
}

// Politeness is what the log says of how a crawler kept its distance.
type Politeness struct {
	Gaps        int
	Shortest    time.Duration // of all gaps, by the origin's clock; 0 where there is none
	Tightest    float64       // the least share of the delay asked for that a gap kept; at least 1 when all held
	MaxInFlight int           // requests to one host at once
	Breaches    []string      // gaps shorter than the host's delay, for a person
	Forbidden   []string      // requests that robots.txt excluded, for a person
}

// CheckPoliteness holds the log against the delay that every host wants (its Crawl-delay where that is longer) and
// against its robots.txt, which a crawler may remember for as long as memory. It looked at what it remembers when it set out to ask: that is in
// setOut, by Seq, where its history tells of it; elsewhere it is the Start.
func (w *World) CheckPoliteness(entries []Entry, delay, memory time.Duration, setOut map[int]time.Time) Politeness {
	var p Politeness
	for _, gap := range Gaps(entries) {
		want := delay
		if host := w.Host(gap.Host); host != nil {
			want = max(want, host.CrawlDelay)
		}
		if p.Gaps == 0 || gap.Took < p.Shortest {
			p.Shortest = gap.Took
		}
		if want > 0 {
			if share := float64(gap.Took) / float64(want); p.Tightest == 0 || share < p.Tightest {
				p.Tightest = share
			}
		}
		if gap.Took < want {
			p.Breaches = append(p.Breaches, fmt.Sprintf("%s asked %v after the request before, want %v",
				gap.Next.URL(), gap.Took, want))
		}
		p.Gaps++
	}
	for _, e := range entries {
		p.MaxInFlight = max(p.MaxInFlight, e.InFlight)
		looked, told := setOut[e.Seq]
		if !told {
			looked = e.Start
		}
		if host := w.Host(e.Host); host != nil && host.Forbids(e.Path, looked.Add(-memory)) {
			p.Forbidden = append(p.Forbidden, fmt.Sprintf("%s at %s, set out %v before", e.URL(), e.Start.Format(time.RFC3339), e.Start.Sub(looked)))
		}
	}
	return p
}

// Tally counts requests by what was asked and answered.
type Tally struct {
	Requests    int // all
	Robots      int // for robots.txt
	OK          int // 200 for a page
	NotModified int // 304 for a page
	Missing     int // 404 and 410
	Redirects   int
	Other       int
	Bytes       int64 // body bytes on the wire
	Pages       int   // paths that ever answered 200

	// Of the requests for a page that can be asked conditionally and had answered 200 before:
	Repeats       int
	Unconditional map[string]int // those that set no condition, by URL
	Unfounded     []string
}

// Count tallies the log. Unfounded lists the answers 304 where none was due: an origin never gives them, so any is a
// mistake of this package.
func (w *World) Count(entries []Entry) Tally {
	t := Tally{Requests: len(entries), Unconditional: map[string]int{}}
	good := map[string]bool{}
	for _, e := range entries {
		t.Bytes += int64(e.Sent)
		if e.Robots() {
			t.Robots++
			continue
		}
		page := w.Lookup(e.URL())
		if page != nil && page.Conditional() && good[e.URL()] && e.Digest != "" {
			t.Repeats++
			if !e.Conditional() {
				t.Unconditional[e.URL()]++
			}
		}
		switch {
		case e.Status == http.StatusOK:
			t.OK++
			good[e.URL()] = true
		case e.Status == http.StatusNotModified:
			t.NotModified++
			if page == nil || !page.Conditional() || !e.Conditional() {
				t.Unfounded = append(t.Unfounded, e.URL())
			}
		case e.Status == http.StatusNotFound || e.Status == http.StatusGone:
			t.Missing++
		case e.Status >= 300 && e.Status < 400:
			t.Redirects++
		default:
			t.Other++
		}
	}
	t.Pages = len(good)
	return t
}

// Served lists, by URL, the bodies that a page answered 200 with, by digest, in order and without those that repeat the
// one before: what a crawler that saw every answer must have stored as versions. Answers that broke off are left out.
func Served(entries []Entry) map[string][]Entry {
	served := map[string][]Entry{}
	for _, e := range byStart(entries) {
		if e.Robots() || e.Status != http.StatusOK || e.Broken {
			continue
		}
		list := served[e.URL()]
		if n := len(list); n > 0 && list[n-1].Digest == e.Digest {
			continue
		}
		served[e.URL()] = append(list, e)
	}
	return served
}

// TextChanges counts how often the visible text of a page changes from one version to the next, whoever asks for it.
func (p *Page) TextChanges() (changes int, err error) {
	before := ""
	for i, v := range p.Versions {
		body, err := v.Body()
		if err != nil {
			return 0, fmt.Errorf("read version %d of %s: %w", i, p.Path, err)
		}
		text := VisibleText(body)
		if i > 0 && text != before {
			changes++
		}
		before = text
	}
	return changes, nil
}
