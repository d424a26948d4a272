package story

import (
	"fmt"
	"net/http"
	"time"

	"recrawld/internal/origin"
)

// guide is a chapter of the documentation: how often, in percent, a release touches one of its pages.
type guide struct {
	dir     string
	touched int
	titles  []string
}

func guides() []guide {
	return []guide{
		{"/start/", 25, []string{"Install Marlin", "Your first queue", "Ten minutes with the console", "Where to get help"}},
		{"/guide/", 30, []string{"Producers", "Consumers", "Acknowledgements", "Dead letters", "Ordering", "Retries and back-off",
			"Large messages", "Running a cluster", "Upgrades without downtime", "Monitoring"}},
		{"/reference/", 60, []string{"Configuration", "Command line", "HTTP API", "Metrics", "Error codes", "Limits",
			"Client library for Go", "Client library for Python"}},
		{"/background/", 0, []string{"Design notes", "Glossary", "Delivery guarantees", "How the log is laid out"}},
	}
}

var docSentences = []string{
	"A queue keeps its messages in the order in which they were accepted, and hands each to one consumer at a time.",
	"Every message has an identifier that the producer may choose; a second message with the same one is dropped.",
	"Nothing is acknowledged before it has reached the disks of a majority of the nodes.",
	"A consumer that does not answer within its lease loses the message, and another consumer gets it.",
	"The console shows the depth of each queue, the age of its oldest message and who reads from it.",
	"Settings are read once at start; a changed file is read again on SIGHUP, and a broken one is refused.",
	"Timestamps are in UTC everywhere, in the log, in the metrics and in the command line's output.",
	"A node that was away catches up from its neighbours before it takes part in elections again.",
	"Use a separate queue for each kind of work: it keeps the figures readable and the back-off apart.",
	"Messages larger than the limit are refused at the door with a clear error, never cut.",
	"The default suits a small machine; look at the metrics for a day before you turn anything up.",
	"What is written here holds for all supported releases unless a paragraph says otherwise.",
}

// docs is a documentation site: its pages change when a release touches them, some often, some never; one page moves,
// one is withdrawn, and the start page lists the chapters.
func (t *teller) docs() *origin.Host {
	h := origin.NewHost(Docs)
	traits := origin.Traits{Validator: origin.ETag, Gzip: true}
	t.docsIndex(newPage(h, "/", "Marlin documentation", origin.Traits{Validator: origin.ETag}))
	for _, g := range guides() {
		chapter := newPage(h, g.dir, "Chapter "+g.dir[1:len(g.dir)-1], traits)
		var items []string
		for _, title := range g.titles {
			path := g.dir + slug(title)
			items = append(items, anchor(path, title))
			t.article(newPage(h, path, title, traits), g.touched)
		}
		chapter.says(t.dawn(), list(items))
	}
	t.leavers(h)
	return h
}

func (t *teller) docsIndex(p *page) {
	content := func(name string) string {
		var items []string
		for _, g := range guides() {
			items = append(items, anchor(g.dir, "Chapter "+g.dir[1:len(g.dir)-1]))
		}
		items = append(items, anchor("/faq", "Questions"), anchor("/guide/sharding", "Sharding"), anchor("/beta", "Beta notes"))
		return paragraphs("Everything about Marlin "+name+", the queue that remembers.") + list(items)
	}
	p.says(t.dawn(), content("1"))
	for _, l := range t.launches {
		p.says(l.at.Add(time.Hour), content(l.name))
	}
}

// article writes a page that each release touches with a chance of touched percent.
func (t *teller) article(p *page, touched int) {
	title := p.made.Title
	text := make([]string, 0, 8)
	for i := range 4 + t.dice.below(4, title) {
		text = append(text, t.dice.pick(docSentences, title, i))
	}
	p.says(t.dawn(), paragraphs(text...))
	for _, l := range t.launches {
		if t.dice.below(100, title, l.name) >= touched {
			continue
		}
		line := t.dice.below(len(text), title, l.name, "line")
		text[line] = fmt.Sprintf("%s Since %s this holds for every kind of queue.", t.dice.pick(docSentences, title, l.name, "new"), l.name)
		p.says(l.at.Add(time.Duration(1+t.dice.below(20, title, l.name, "late"))*time.Hour), paragraphs(text...))
	}
}

// leavers are pages that do not stay: one moves on the sixth day, one is withdrawn on the ninth.
func (t *teller) leavers(h *origin.Host) {
	old := newPage(h, "/faq", "Questions", origin.Traits{Validator: origin.LastModified})
	old.says(t.dawn(), paragraphs(docSentences[3], docSentences[9]))
	old.moves(t.from.Add(6*24*time.Hour), "/help/questions")
	moved := newPage(h, "/help/questions", "Questions", origin.Traits{Validator: origin.LastModified})
	moved.says(t.from.Add(6*24*time.Hour), paragraphs(docSentences[3], docSentences[9], docSentences[5]))
	beta := newPage(h, "/beta", "Beta notes", origin.Traits{})
	beta.says(t.dawn(), paragraphs("The beta ends soon, and this page with it."))
	beta.answers(t.from.Add(9*24*time.Hour), http.StatusGone, "")
	// /guide/sharding is linked and was never written: a dead link as every site has one.
}
