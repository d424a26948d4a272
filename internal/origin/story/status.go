package story

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"recrawld/internal/origin"
)

var components = []string{"API", "Queues", "Console", "Mail"}

// status is a status page: its front changes its times and counters every hour and says something new with each incident,
// a component's page changes numbers every few hours, the history every day,
// and an incident's page every half hour while it lasts and never again. Nothing on it can be asked conditionally
// but the incidents.
func (t *teller) status() *origin.Host {
	h := origin.NewHost(Status)
	front := newPage(h, "/", "Marlin status", origin.Traits{})
	history := newPage(h, "/history", "History", origin.Traits{})
	for i, name := range components {
		t.component(newPage(h, "/components/"+slug(name), name, origin.Traits{Latency: time.Millisecond}), name,
			time.Duration(1+i)*time.Hour)
	}
	var incidents []string
	for i, at := 0, t.from.Add(31*time.Hour); at.Before(t.to); i++ {
		path := "/incidents/" + at.Format("2006-01-02")
		incidents = append(incidents, path)
		t.incident(newPage(h, path, "Incident of "+day(at), origin.Traits{Validator: origin.ETag}), at)
		at = at.Add(time.Duration(150+t.dice.below(100, "incident", i)) * time.Hour)
	}
	t.every(time.Hour, func(i int, at time.Time) { front.ticks(at, t.board(at, incidents)) })
	t.every(24*time.Hour, func(i int, at time.Time) { history.says(at, t.past(at, incidents)) })
	return h
}

// board is the front page of an hour.
func (t *teller) board(at time.Time, incidents []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<p>Last looked at %s UTC.</p>\n<table>\n<tr><th>Component</th><th>State</th><th>Answer time</th></tr>\n",
		at.Format("2 January 2006 15:04"))
	for _, name := range components {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>up</td><td>%d ms</td></tr>\n", anchor("/components/"+slug(name), name),
			12+t.dice.below(60, name, at.Unix()))
	}
	b.WriteString("</table>\n")
	items := []string{anchor("/history", "History")}
	for _, path := range begun(incidents, at) {
		items = append(items, anchor(path, "Incident "+path[len("/incidents/"):]))
	}
	return b.String() + list(items)
}

func (t *teller) past(at time.Time, incidents []string) string {
	var items []string
	for i := range 10 {
		date := at.Add(-time.Duration(i) * 24 * time.Hour)
		items = append(items, fmt.Sprintf("%s: %.2f %% of requests answered", day(date),
			100-float64(t.dice.below(40, "uptime", date.Format(time.DateOnly)))/100))
	}
	for _, path := range begun(incidents, at) {
		items = append(items, anchor(path, "Incident "+path[len("/incidents/"):]))
	}
	return list(items)
}

// recent is how many incidents a page lists: a long story is not to make long pages.
const recent = 12

// begun lists the newest incidents up to the day before at.
func begun(incidents []string, at time.Time) []string {
	n := sort.Search(len(incidents), func(i int) bool { return incidents[i] > "/incidents/"+at.Format(time.DateOnly) })
	return incidents[max(0, n-recent):n]
}

func (t *teller) component(p *page, name string, step time.Duration) {
	t.every(step, func(i int, at time.Time) {
		p.ticks(at, paragraphs(fmt.Sprintf("%s answers on %d nodes; the slowest took %d ms in the last hours.", name,
			3+t.dice.below(3, name, i), 40+t.dice.below(200, name, i, "slow"))))
	})
}

// incident tells of an outage as it goes on.
func (t *teller) incident(p *page, at time.Time) {
	var items []string
	for i, word := range []string{"We see errors and look into them.", "A disk of the second node is full.",
		"Old segments are being moved.", "Most queues answer again.", "All queues answer; we keep watching.",
		"Over. A report follows."} {
		now := at.Add(time.Duration(i) * 35 * time.Minute)
		items = append([]string{now.Format("15:04") + " UTC: " + word}, items...)
		p.says(now, list(items))
	}
}
