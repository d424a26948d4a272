package digest

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/report"
)

// Digest is what a letter says.
type Digest struct {
	From, To time.Time // of what it tells
	Sites    []Site    // by name
	Removed  []Removal // sites that are no more
	Unusual  []string  // what became unusual of a site, or is as usual again, in a line each
	Notes    []string  // what its reader should know of it
	More     int64     // pages of Sites that something happened to and that are not among its entries
	Command  string    // shows those, too
}

// Site is what happened to the pages of a site.
type Site struct {
	Name    string
	Tally   Tally
	Entries []Entry // what weighs most first; of some pages there is none
}

// Removal is a site that was removed.
type Removal struct {
	Name  string
	Pages int64
	At    time.Time
}

// Entry is what happened to a page.
type Entry struct {
	Kind         models.EventKind
	At           time.Time
	URL          string        // of http or https
	RedirectTo   string        // of a page that moved
	Title        string        // "": not known
	Significance float32       // of a change; 0: it was not weighed, or it is none
	Times        int           // how many changes it stands for
	Said         template.HTML // what there is to read of it: paragraphs, <p> or <p dir="auto">, with del and ins elements and no other, safe to show
}

// Empty tells whether there is nothing to tell.
func (d *Digest) Empty() bool {
	return len(d.Sites) == 0 && len(d.Removed) == 0 && len(d.Unusual) == 0 && len(d.Notes) == 0
}

// subjectSites is how many sites a subject names.
const subjectSites = 3

// Subject says how much there is in a line: "recrawld: 14 pages changed, 2 new on docs, blog".
func (d *Digest) Subject() string {
	var parts, names []string
	all := Tally{}
	for _, s := range d.Sites {
		names = append(names, s.Name)
		for kind, pages := range s.Tally {
			all[kind] += pages
		}
	}
	if words := all.words(); words != "" {
		parts = append(parts, words+" on "+someOf(names))
	}
	if len(d.Removed) > 0 {
		names = names[:0]
		for _, r := range d.Removed {
			names = append(names, r.Name)
		}
		parts = append(parts, someOf(names)+" removed")
	}
	if rest := slices.Concat(d.Unusual, d.Notes); len(parts) == 0 && len(rest) > 0 {
		parts = append(parts, rest[0])
	}
	return report.OneLine("recrawld: "+strings.Join(parts, "; "), 180)
}

// someOf names the first of some.
func someOf(names []string) string {
	if more := len(names) - subjectSites; more > 1 {
		return strings.Join(names[:subjectSites], ", ") + fmt.Sprintf(" and %s more", report.Count(more))
	}
	return strings.Join(names, ", ")
}

// told are the kinds in the order in which a person wants to hear of them.
var told = []models.EventKind{models.EventChanged, models.EventNew, models.EventGone, models.EventMoved, models.EventRestored, models.EventFailing,
	models.EventExcluded, models.EventRefreshed, models.EventTemplate}

// words says how many pages something happened to: "14 pages changed, 2 new".
func (t Tally) words() string {
	var words []string
	for _, kind := range told {
		switch n := t[kind]; {
		case n == 0:
		case len(words) == 0:
			words = append(words, report.Plural(n, "page")+" "+kind.String())
		default:
			words = append(words, report.Count(n)+" "+kind.String())
		}
	}
	return strings.Join(words, ", ")
}

// Pages is how many pages there are in all.
func (t Tally) Pages() (n int64) {
	for _, pages := range t {
		n += pages
	}
	return n
}

// when says which time is told of.
func (d *Digest) when() string {
	return fmt.Sprintf("from %s to %s UTC", report.Moment(d.To, d.From), report.Moment(d.To, d.To))
}

// head is a line on an entry: what, how much, when.
func (e *Entry) head(now time.Time) string {
	parts := []string{e.Kind.String()}
	if e.Significance > 0 {
		parts = append(parts, fmt.Sprintf("significance %.2f", e.Significance))
	}
	if often := e.often(); often != "" {
		parts = append(parts, often, "last "+report.Moment(now, e.At))
	} else {
		parts = append(parts, report.Moment(now, e.At))
	}
	return strings.Join(parts, ", ")
}

// often says how many changes it stands for, "" for one.
func (e *Entry) often() string {
	switch {
	case e.Times <= 1:
		return ""
	case e.Kind != models.EventNew:
		return fmt.Sprintf("%d times", e.Times)
	case e.Times == 2:
		return "changed once since"
	}
	return fmt.Sprintf("changed %d times since", e.Times-1)
}

// mostTitle is how many characters of a title or an address are shown where they are to be read.
const mostTitle = 200

func line(text string) string { return report.OneLine(text, mostTitle) }

// more says what is left out, and how to see it.
func (d *Digest) more() string {
	if d.More == 0 {
		return ""
	}
	return fmt.Sprintf("… and %s more. All of it, where recrawld runs:", report.Plural(d.More, "page"))
}

// removal is a site that was removed, in a line.
func (d *Digest) removal(r Removal) string {
	return fmt.Sprintf("The site %s was removed %s, with %s.", line(r.Name), report.Moment(d.To, r.At), report.Plural(r.Pages, "page"))
}

// SortSites orders sites by name.
func SortSites(sites []Site) {
	slices.SortFunc(sites, func(a, b Site) int { return strings.Compare(a.Name, b.Name) })
}
