package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler/changerate"
)

// showCmd shows a page and its versions, or the body of one.
type showCmd struct {
	URL     string `arg:"" help:"The page."`
	Version int32  `placeholder:"N" help:"Print the body of this version; --version=-1 is the newest."`
	Header  bool   `xor:"part" help:"With --version, print the header of the answer and not its body."`
	Text    bool   `xor:"part" help:"Print what the page says, or said in --version, as far as it counts as its content; with --json with all that a search index stores of it."`
	Chunks  string `placeholder:"on|N" help:"With --text: in chunks of about N characters under their headings (on: 2000), each with an ID that stays as long as it says the same."`
	Have    int32  `placeholder:"N" help:"With --chunks: which chunks are new since version N, and which of that are gone."`
	Limit   int    `default:"10" help:"Versions listed, the newest first; 0 for all."`
}

// Run implements the command.
func (c showCmd) Run(ctx context.Context, g *globals) error { return g.read(ctx, c) }

func (c showCmd) read(ctx context.Context, l *look) error {
	if c.Text {
		return c.text(ctx, l)
	}
	if c.Chunks != "" || c.Have != 0 {
		return usagef("--chunks and --have are of what a page says: add --text")
	}
	page, _, err := l.page(ctx, c.URL)
	if err != nil {
		return err
	}
	if c.Version != 0 {
		return c.body(ctx, l, page)
	}
	limit := c.Limit
	if limit <= 0 {
		limit = mostRows
	}
	versions, err := l.store.Versions(ctx, page.Bucket, page.ID, 0, limit)
	if err != nil {
		return err
	}
	if l.JSON {
		return l.printJSON(pageJSON(l, page, versions))
	}
	share, err := l.store.Share(ctx, page)
	if err != nil {
		return err
	}
	return l.showPage(page, share, versions)
}

// body writes what the archive holds of a version.
func (c showCmd) body(ctx context.Context, l *look, page models.Page) error {
	v, err := l.library().version(ctx, page, c.Version)
	if err != nil {
		return err
	}
	answer, err := l.library().copied(ctx, page, v)
	if err != nil {
		return err
	}
	if c.Header {
		_, err = fmt.Fprintf(l.Stdout, "%s %d\r\n%s\r\n", answer.Proto, answer.Status, answer.Header)
		return err
	}
	_, err = l.Stdout.Write(answer.Body)
	return err
}

// answer reads a record from the archive.
func (l *look) answer(at models.Record) (answer archive.Answer, err error) {
	reader, err := openArchiveReader(&l.force.config, l.store, clock.System{}.Now)
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	return reader.Read(at)
}

// showPage writes a page for a person.
func (l *look) showPage(p models.Page, share models.ChildShare, versions []models.Version) error {
	fmt.Fprintln(l.Stdout, l.style.Bold(l.style.Address(p.URL)))
	words := facts{style: l.style}
	words.add("state", "%s", l.stateWords(p))
	words.add("site", "%s, level %d", l.siteNames()[p.SiteID], p.Level)
	words.add("visited", "%s", l.visitedWords(p))
	words.add("changed", "%s", l.changesWords(p, l.rate(p.Stats)))
	words.add("next", "%s", l.nextWords(p))
	words.add("validators", "%s", validatorWords(p))
	words.add("content", "%s", contentWords(p))
	words.add("duplicate of", "%s", l.style.Address(p.DuplicateOf))
	words.add("children", "%s", l.childrenWords(p, share))
	if err := words.write(l.Stdout); err != nil {
		return err
	}
	if len(versions) == 0 {
		return nil
	}
	fmt.Fprintln(l.Stdout)
	return report.WriteText(l.Stdout, l.versionTable(p, versions), l.style)
}

// stateTones are the colours of the states.
var stateTones = map[models.PageState]report.Tone{models.StateLive: report.Good, models.StateMoved: report.Warn,
	models.StateMissing: report.Warn, models.StateGone: report.Bad, models.StateExcluded: report.Warn}

func (l *look) stateWords(p models.Page) string {
	words := l.style.Paint(stateTones[p.State], p.State.String())
	if p.RedirectTo != "" {
		words += " to " + l.style.Address(p.RedirectTo)
	}
	switch {
	case p.State == models.StateMoved && p.Stats.Records > 0: // that it leads there counts as its content
		words += " since " + report.Moment(l.now, max(p.Stats.ChangedAt, p.Stats.FirstAt).Time())
	case p.State == models.StateMissing:
		words += fmt.Sprintf(": %s in a row since %s", report.Plural(p.MissingVisits, "visit"), report.Moment(l.now, p.MissingSince.Time()))
	case p.State == models.StateGone && p.Failures > 0: // else its note says since when
		words += fmt.Sprintf(": not found since %s (%s)", report.Moment(l.now, p.MissingSince.Time()), report.Plural(p.MissingVisits, "visit"))
	}
	if p.Failures > 0 {
		words += ", " + l.style.Paint(report.Bad, failingWords(p))
	}
	if p.Note != "" {
		words += ": " + p.Note
	}
	return words
}

func (l *look) visitedWords(p models.Page) string {
	if p.Visits == 0 {
		return "never yet"
	}
	words := fmt.Sprintf("%s, last asked %s; %s saw the content", report.Plural(p.Visits, "turn"), l.ago(p.TriedAt),
		report.Plural(p.Stats.Records, "visit"))
	switch last := p.Stats.VisitedAt; {
	case last == p.TriedAt || p.Stats.Records == 0:
		return words
	case p.Stats.Records == 1:
		return words + ", " + l.ago(last)
	default:
		return words + ", the last one " + l.ago(last)
	}
}

// ago says when something was, with its time: "3 h ago (Sat 21 Nov 09:00)".
func (l *look) ago(at models.Instant) string {
	if at == 0 {
		return "never"
	}
	return fmt.Sprintf("%s (%s)", report.Until(l.now, at.Time()), report.Moment(l.now, at.Time()))
}

func (l *look) changedWords(s models.ChangeStats, rate changerate.Rate) string {
	if s.Records < 2 {
		return "not known: it takes two visits to see a change"
	}
	span := s.VisitedAt.Time().Sub(s.FirstAt.Time())
	switch {
	case s.Changes == 0:
		return fmt.Sprintf("never in %s of watching: %s", report.Span(span), report.Rate(rate))
	case s.Changes >= s.Records-1: // how much more often than it was looked at cannot be told
		return fmt.Sprintf("at every visit, last seen %s: at least 1 per %s", l.ago(s.ChangedAt),
			report.Span(span/time.Duration(s.Changes)))
	}
	return fmt.Sprintf("%s, last seen %s: %s", times(s.Changes), l.ago(s.ChangedAt), report.Rate(rate))
}

func times(n int32) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return report.Count(n) + " times"
}

// rate is the page's change rate by its sums alone: its gaps are taken as equal.
func (l *look) rate(s models.ChangeStats) changerate.Rate {
	n := int(s.Records) - 1
	if n < 1 {
		return changerate.Regular(0, 0, 0)
	}
	return changerate.Regular(n, int(s.Changes), s.VisitedAt.Time().Sub(s.FirstAt.Time())/time.Duration(n))
}

// nextWords says when the next visit is due and what the interval is.
func (l *look) nextWords(p models.Page) string {
	if p.DueAt == 0 {
		return "never"
	}
	return fmt.Sprintf("%s; %s", l.dueMoment(p.DueAt.Time()), l.cycles(p))
}

func (l *look) dueMoment(due time.Time) string {
	if !due.After(l.now) {
		return "now, since " + report.Moment(l.now, due)
	}
	return fmt.Sprintf("%s (%s)", report.Moment(l.now, due), report.Until(l.now, due))
}

// cycles is "fr 9 / 56 (every 2.3 d, ceiling 14 d)". Where something else than the interval keeps the page waiting, and for longer, fr
// does not count it down: then it says for how long, and by which rule.
func (l *look) cycles(p models.Page) string {
	ceiling := l.calendar.Interval(l.now, l.force.planner.Ceiling(p.SiteID, l.now))
	every := l.calendar.Interval(l.now, int(p.FRMax))
	if left := l.cyclesLeft(p); left > int(p.FRMax) {
		return fmt.Sprintf("%s to go (%s); fr_max %d (every %s, ceiling %s) does not count meanwhile", report.Plural(left, "cycle"), p.Rule, p.FRMax,
			report.Span(every), report.Span(ceiling))
	}
	return report.Cycles(l.cyclesLeft(p), int(p.FRMax), every, ceiling)
}

// cyclesLeft is how many cycles lie between now and the page's due time.
func (l *look) cyclesLeft(p models.Page) int { return l.calendar.CyclesUntil(l.now, p.DueAt.Time()) }

func validatorWords(p models.Page) string {
	var words []string
	if p.ETag != "" {
		words = append(words, "ETag "+report.Printable(p.ETag))
	}
	if p.LastModified != "" {
		words = append(words, "Last-Modified "+report.Printable(p.LastModified))
	}
	if len(words) == 0 && p.State == models.StateLive && p.Version > 0 {
		return "none: every visit reads the whole page"
	}
	return strings.Join(words, ", ")
}

func contentWords(p models.Page) string {
	if p.Version == 0 {
		return ""
	}
	kind := p.ContentType
	if kind == "" {
		kind = "of no stated type"
	}
	words := fmt.Sprintf("%s, %s, %s", kind, report.Bytes(p.Bytes), report.Plural(p.Version, "version"))
	if p.NoArchive {
		words += "; asks not to be archived"
	}
	if p.Lost {
		words += "; the archive has lost its body, which the next visit stores anew"
	}
	return words
}

func (l *look) childrenWords(p models.Page, share models.ChildShare) string {
	if p.Children == 0 {
		return ""
	}
	words := fmt.Sprintf("%s, last read %s", report.Plural(p.Children, "link"), l.ago(p.FullAt))
	if share.Known == 0 {
		return words + "; none leads deeper into the site"
	}
	words += fmt.Sprintf("; of the %d that lead deeper %d changed since", share.Known, share.Changed)
	if p.Threshold > 0 {
		words += fmt.Sprintf(", read again in full at %.0f %%", float64(p.Threshold)/10)
	}
	if p.Skips > 0 {
		words += fmt.Sprintf(", which was not so at %s", plainTurns(p.Skips))
	}
	return words
}

func plainTurns(n int16) string {
	if n == 1 {
		return "its last turn"
	}
	return fmt.Sprintf("its last %d turns", n)
}

// versionTable lists versions.
func (l *look) versionTable(p models.Page, versions []models.Version) report.Document {
	d := report.Document{Name: "versions", At: l.now, Columns: []report.Column{
		{Key: "number", Head: "version", Right: true}, {Key: "at", Head: "seen"}, {Key: "bytes", Head: "size", Right: true},
		{Key: "content_type", Head: "type", Drop: 2}, {Key: "what", Head: "what"}, {Key: "significance", Head: "weight", Right: true, Spare: true},
		{Key: "reasons", Head: "reasons", Spare: true}, {Head: "digest", Drop: 1},
	}}
	for _, v := range versions {
		what, significance, reasons := versionCells(v)
		d.Rows = append(d.Rows, report.Row{report.CountCell(int64(v.Number)), report.OnlyText(l.ago(v.At)), report.BytesCell(v.Bytes),
			report.TextCell(v.ContentType), what, significance, reasons, report.OnlyText(v.Digest.String()[:min(12, len(v.Digest.String()))])})
	}
	if more := int(p.Version) - len(versions); more > 0 && versions[len(versions)-1].Number > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("… and %s more (%s)", report.Count(more), l.style.AllRows()))
	}
	lost := slices.DeleteFunc(slices.Clone(versions), func(v models.Version) bool { return !v.Record.Lost() })
	if len(lost) > 0 {
		words := make([]string, len(lost))
		for i, v := range lost {
			words[i] = strconv.Itoa(int(v.Number))
		}
		d.Notes = append(d.Notes, "the archive has lost the bodies of: "+strings.Join(words, ", "))
	}
	return d
}
