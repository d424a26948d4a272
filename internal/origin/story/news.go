package story

import (
	"fmt"
	"slices"
	"time"

	"recrawld/internal/origin"
)

var headlines = []string{
	"Marlin moves into the harbour office", "A queue for every tram stop", "How the night shift counts messages",
	"Three lessons from a full disk", "The library that never loses a card", "Meet the people who answer the list",
	"A weekend without alarms", "What the ferry timetable taught us", "Small machines, long queues",
	"Why we stopped polling", "The town hall goes live", "An outage told by its log", "Second summer school announced",
	"Bakery orders before sunrise", "A map of all our lighthouses", "Twelve clients in twelve languages",
	"The long road to exactly once", "Students measure the harbour", "Print is not dead, it is queued",
	"A quieter pager", "The archive opens its doors", "Winter timetable on time", "Old hardware, new tricks",
	"Letters from our readers", "The conference in one page", "Counting ships by hand", "A day at the signal box",
	"What changed in the protocol", "How to write a post-mortem", "The smallest cluster in town",
}

var newsSentences = []string{
	"It began with a note on the door and a box of old cables.",
	"Nobody had expected the queue to be empty at noon, least of all the people who had filled it.",
	"The team changed one setting, waited for a day, and then changed it back.",
	"Visitors may look over the operators' shoulders every Thursday.",
	"In the end the cause was a clock that had been right all along.",
	"The figures are in the annex; the photographs are not.",
	"A second phase follows in the spring, if the budget holds.",
	"Readers who were there are asked to write to us.",
}

// article is one article.
type article struct {
	title, path string
	at          time.Time
}

// news is a newsroom: an article or two on most working days between eight and eighteen, about half of them corrected
// within hours and then left alone; the front page shows the newest twelve, a page a month lists them all.
func (t *teller) news() *origin.Host {
	h := origin.NewHost(News)
	front := newPage(h, "/", "Marlin news", origin.Traits{Validator: origin.LastModified, MaxAge: 10 * time.Minute})
	var told []article
	for _, a := range t.articles() {
		t.report(newPage(h, a.path, a.title, origin.Traits{Validator: origin.LastModified, Gzip: true}), a)
		told = append(told, a)
	}
	archive := newPage(h, "/archive", "All articles", origin.Traits{Validator: origin.WeakETag})
	front.says(t.dawn(), paragraphs("The newsroom opens soon.")+list([]string{anchor("/archive", "All articles")}))
	archive.says(t.dawn(), paragraphs("Nothing yet."))
	for i, a := range told {
		newest := slices.Clone(told[max(0, i-11) : i+1])
		slices.Reverse(newest)
		front.says(a.at, teasers(newest)+list([]string{anchor("/archive", "All articles")}))
		if i%4 == 3 {
			archive.says(a.at.Add(2*time.Hour), titles(told[:i+1]))
		}
	}
	return h
}

// articles plans who is published when: the first ones before anybody looks.
func (t *teller) articles() []article {
	var list []article
	at := t.from.Add(-4 * 24 * time.Hour)
	for i, title := range headlines {
		published := workingHour(at, 8).Add(time.Duration(t.dice.below(600, title, "minute")) * time.Minute)
		if n := len(list); n > 0 && !published.After(list[n-1].at) {
			published = list[n-1].at.Add(95 * time.Minute)
		}
		if published.After(t.to) {
			break
		}
		list = append(list, article{title, fmt.Sprintf("/%s/%s", published.Format("2006/01"), slug(title)), published})
		at = at.Add(time.Duration(12+t.dice.below(40, title, "gap", i)) * time.Hour)
	}
	return list
}

// report writes an article and, for half of them, its correction.
func (t *teller) report(p *page, a article) {
	text := []string{"<em>" + day(a.at) + ".</em> " + t.dice.pick(newsSentences, a.title, 0)}
	for i := range 3 {
		text = append(text, t.dice.pick(newsSentences, a.title, i+1))
	}
	p.says(a.at, paragraphs(text...))
	if t.dice.below(2, a.title, "corrected") == 0 {
		text = append(text, "<strong>Correction:</strong> an earlier form of this article named the wrong pier.")
		p.says(a.at.Add(time.Duration(1+t.dice.below(5, a.title, "after"))*time.Hour), paragraphs(text...))
	}
}

func teasers(list []article) string {
	var b []string
	for _, a := range list {
		b = append(b, anchor(a.path, a.title)+" ("+day(a.at)+")")
	}
	return "<section>\n" + paragraphs(b...) + "</section>\n"
}

func titles(told []article) string {
	var items []string
	for _, a := range told {
		items = append(items, anchor(a.path, a.title))
	}
	return list(items)
}
