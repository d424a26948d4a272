package story

import (
	"fmt"
	"time"

	"recrawld/internal/origin"
)

var fixes = []string{
	"A consumer that leaves during an election no longer keeps its lease.",
	"The console shows times in the reader's zone on request.",
	"Compaction no longer wakes a disk that sleeps.",
	"<code>marlin check</code> names the line of a broken setting.",
	"The Go client closes its connections when its context ends.",
	"Start-up after a power cut takes a tenth of the time.",
	"Metrics of a removed queue disappear with it.",
	"Messages of exactly the limit are accepted again.",
	"The HTTP interface answers HEAD.",
	"Upgrades keep the order of dead letters.",
}

// releases is a page that lists the releases and a page for each, which gets one late note and then stays.
func (t *teller) releases() *origin.Host {
	h := origin.NewHost(Releases)
	traits := origin.Traits{Validator: origin.BothValidators}
	index := newPage(h, "/", "Releases of Marlin", traits)
	policy := newPage(h, "/policy", "How we release", traits)
	policy.says(t.dawn(), paragraphs("A release every week or so, on a working day, never before lunch."))
	items := []string{anchor("/policy", "How we release")}
	index.says(t.dawn(), list(items))
	for _, l := range t.launches {
		path := "/marlin-" + l.name
		items = append([]string{anchor(path, "Marlin "+l.name) + ", " + day(l.at)}, items...)
		index.says(l.at, list(items))
		t.notes(newPage(h, path, "Marlin "+l.name, traits), l)
	}
	return h
}

func (t *teller) notes(p *page, l launch) {
	var items []string
	for i := range 3 + t.dice.below(3, l.name, "fixes") {
		items = append(items, t.dice.pick(fixes, l.name, i))
	}
	head := paragraphs("Released on "+day(l.at)+".") + list(items)
	p.says(l.at, head)
	late := time.Duration(20+t.dice.below(40, l.name, "note")) * time.Hour
	p.says(l.at.Add(late), head+paragraphs(fmt.Sprintf("Known issue: %s Fixed in the release after.",
		t.dice.pick(fixes, l.name, "issue"))))
}
