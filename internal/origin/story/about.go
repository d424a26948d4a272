package story

import (
	"fmt"
	"strings"
	"time"

	"recrawld/internal/origin"
)

// about is what stands still: an imprint, a licence, the people. One page has a build stamp in a comment that changes
// every few hours while nothing that a reader sees does; one gets a vacancy a week.
func (t *teller) about() *origin.Host {
	h := origin.NewHost(About)
	h.CrawlDelay = 5 * time.Minute
	traits := origin.Traits{Validator: origin.WeakETag}
	still := []struct{ title, text string }{
		{"Imprint", "Marlin is made by nobody, at no address, and can be reached in no way."},
		{"Licence", "You may do with it what you can, since it does not exist."},
		{"Privacy", "This site keeps nothing, asks nothing and knows nothing."},
		{"Accessibility", "Plain text, one column, no scripts."},
		{"Press", "There is a picture of the logo. It shows a fish."},
		{"Code of conduct", "Be kind. Read the question twice. Answer it once."},
	}
	items := []string{anchor("/people", "People"), anchor("/jobs", "Jobs")}
	for _, s := range still {
		items = append(items, anchor("/"+slug(s.title), s.title))
	}
	newPage(h, "/", "About Marlin", traits).says(t.dawn(), list(items))
	for _, s := range still {
		newPage(h, "/"+slug(s.title), s.title, traits).says(t.dawn(), paragraphs(s.text))
	}
	people := newPage(h, "/people", "People", origin.Traits{})
	t.every(4*time.Hour, func(i int, at time.Time) {
		people.says(at, fmt.Sprintf("<!-- build %d -->\n", i)+paragraphs("Ada keeps the log.", "Bo keeps the lights on.",
			"Cleo writes what you read here."))
	})
	jobs := newPage(h, "/jobs", "Jobs", traits)
	t.every(7*24*time.Hour, func(i int, at time.Time) {
		jobs.says(at.Add(10*time.Hour), paragraphs(strings.Repeat("We look for somebody who likes queues. ", 1+i%3)))
	})
	return h
}
