package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"recrawld/models"
	"recrawld/report"
	"recrawld/sink"
)

// withheldPage is a page that a sink could not take, as sinkListCmd shows it.
type withheldPage struct {
	URL    string    `json:"url"`
	Why    string    `json:"why"`
	Since  time.Time `json:"since"`
	Events int       `json:"events"` // that wait
}

// withheldBy reads the pages that a sink could not take.
func withheldBy(ctx context.Context, store *models.Store, name string) ([]withheldPage, error) {
	row, err := store.Meta(ctx, sink.WithheldKey(name))
	if err != nil {
		return nil, err
	}
	pages, err := sink.WithheldIn(row)
	shown := make([]withheldPage, len(pages))
	for i, p := range pages {
		shown[i] = withheldPage{URL: p.URL, Why: p.Why, Since: p.Since.Time(), Events: len(p.Events)}
	}
	return shown, err
}

// withheldShown is how many pages of a sink are listed on the screen.
const withheldShown = 10

// writeWithheld lists the pages that a sink could not take, with the way out.
func writeWithheld(out io.Writer, s sinkState, now time.Time) error {
	if len(s.Withheld) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\n%s cannot take %s; the others go on:\n", s.Name, report.Plural(len(s.Withheld), "page"))
	style := terminalStyle(out)
	for _, p := range s.Withheld[:min(len(s.Withheld), withheldShown)] {
		fmt.Fprintf(out, "  %s, for %s: %s\n", style.Address(p.URL), report.Span(now.Sub(p.Since)), p.Why)
	}
	if more := len(s.Withheld) - withheldShown; more > 0 {
		fmt.Fprintf(out, "  … and %s more (--json has all)\n", report.Plural(more, "page"))
	}
	_, err := fmt.Fprintf(out, "Nothing of them is lost: each is tried again within %s. Do away with what is in the way: let the daemon's user write\n"+
		"there, have the %[2]s where such names can be, bring segments of other archives here. \"recrawld sink replay %[2]s\" tries all at\n"+
		"once, and makes the rest anew.\n",
		report.Span(sink.RetryMax), s.Name)
	return err
}

// passedPages are pages that a sink goes without for now, since too many copies are not on this machine, as sinkListCmd shows it.
type passedPages struct {
	Pages int64     `json:"pages"` // that were passed over; one twice counts twice
	At    time.Time `json:"at"`    // the last of them was
	Why   string    `json:"why"`   // it could not be had
}

// passedBy reads what a sink goes without; nil: nothing.
func passedBy(ctx context.Context, store *models.Store, name string) (*passedPages, error) {
	row, err := store.Meta(ctx, sink.PassedKey(name))
	if err != nil {
		return nil, err
	}
	p, err := sink.PassedIn(row)
	if err != nil || p.Pages == 0 {
		return nil, err
	}
	return &passedPages{p.Pages, p.At.Time(), p.Why}, nil
}

// writePassed says what a sink goes without, with the way out.
func writePassed(out io.Writer, s sinkState, now time.Time) error {
	if s.Passed == nil {
		return nil
	}
	_, err := fmt.Fprintf(out, "\n%s has passed over what happened to up to %s, the last of them %s ago: %s\n"+
		"It goes without them until they say something new: more than wait had no copy on this machine for a day. Bring segments of other\n"+
		"archives here, or have \"recrawld verify --mend\" fetch anew what is lost; \"recrawld sink replay %[1]s\" then gives it all.\n",
		s.Name, report.Plural(int(s.Passed.Pages), "page"), report.Span(now.Sub(s.Passed.At)), report.Printable(s.Passed.Why))
	return err
}

// statusSinks fills in how many pages each sink could not take, and which take nothing.
func (l *look) statusSinks(ctx context.Context, s *status) error {
	s.Withheld, s.Trouble = make(map[string]int), make(map[string]sinkTrouble)
	s.Passed = make(map[string]int64)
	for _, name := range sinkNames(&l.force.config) {
		pages, err := withheldBy(ctx, l.store, name)
		if err != nil {
			return err
		}
		s.Withheld[name] = len(pages)
		passed, err := passedBy(ctx, l.store, name)
		if err != nil {
			return err
		}
		if passed != nil {
			s.Passed[name] = passed.Pages
		}
		trouble, err := troubleOf(ctx, l.store, name)
		if err != nil {
			return err
		}
		if trouble != nil {
			s.Trouble[name] = *trouble
		}
	}
	return nil
}

// addSinks adds a line for each sink that could not take some pages, or takes nothing.
func (s status) addSinks(head *facts) {
	for _, name := range slices.Sorted(maps.Keys(s.Withheld)) {
		if n := s.Withheld[name]; n > 0 {
			head.add(name, "%s: recrawld sink list says why", head.style.Paint(report.Bad, "cannot take "+report.Plural(n, "page")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Passed)) {
		head.add(name, "%s: recrawld sink list says why", head.style.Paint(report.Bad, "has passed over up to "+report.Plural(int(s.Passed[name]), "page")))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Trouble)) {
		head.add(name, "%s: recrawld sink list says why", head.style.Paint(report.Bad, "takes nothing, for "+report.Span(s.At.Sub(s.Trouble[name].Since))))
	}
}
