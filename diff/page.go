package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/report"
)

// MostBytes is how much of a body is compared by its source, in bytes. Views have a bound of their own.
const MostBytes = 10 << 20

// Version is one of the two versions that are compared.
type Version struct {
	Number      int32
	At          time.Time
	ContentType string        // the header's value
	Header      []byte        // CRLF lines without the status line
	Body        []byte        // decoded
	View        *content.View // of Body
}

// Verdict is what was found of a difference: whether it counts and why.
type Verdict struct {
	Kind         string         `json:"kind"` // "changed", "noise", or the class of an answer without content: "error-page"
	Significance float64        `json:"significance"`
	Threshold    float64        `json:"threshold"` // what counts from there on at this site
	Reasons      models.Reasons `json:"-"`
	Words        []string       `json:"reasons"`
	Today        *Verdict       `json:"today,omitempty"` // what would be found by what is known and set now, where that is another kind
}

// Layer is what of two versions is shown: the first, from what a reader sees to the bytes, in which they differ.
type Layer string

// The layers.
const (
	Content Layer = "content" // the main content
	Beside  Layer = "beside"  // what stands beside it: menus, headers, footers
	Unseen  Layer = "unseen"  // attributes, scripts, comments, headers
	Source  Layer = "source"  // lines of the source
	Bytes   Layer = "bytes"   // no text, or nothing else
)

// Difference is what differs between two versions.
type Difference struct {
	URL     string    `json:"url"`
	From    int32     `json:"from"`
	FromAt  time.Time `json:"from_at"`
	To      int32     `json:"to"`
	ToAt    time.Time `json:"to_at"`
	Of      Layer     `json:"of"`
	Equal   bool      `json:"equal"` // the bodies are the same
	Verdict *Verdict  `json:"verdict,omitempty"`
	Summary string    `json:"summary"`
	Added   int       `json:"lines_added"` // a changed line counts as one of each
	Removed int       `json:"lines_removed"`
	Lines   []Line    `json:"lines"`            // in reading order; of lines that are the same only those near a difference
	Beside  []Line    `json:"beside,omitempty"` // what differs beside the content
	Unseen  []Fact    `json:"unseen,omitempty"` // what differs and cannot be seen
	Left    int       `json:"unseen_left_out,omitempty"`
	Notes   []string  `json:"notes,omitempty"` // what was not compared
	Unified string    `json:"diff"`            // Lines in the unified format
}

// Options say how versions are compared.
type Options struct {
	URL     string
	Raw     bool                  // compare the source and not the content
	Verdict *Verdict              // what is said of them on top; nil: nothing
	Blocks  []content.BlockChange // what was found of each block
	Context int                   // lines of the same around a difference
}

// Compare says what differs between two versions. Unless their bodies are the same, there is something to show: lines,
// facts or a sentence. It does not fail.
func Compare(a, b Version, o Options) Difference {
	d := Difference{URL: o.URL, From: a.Number, FromAt: a.At, To: b.Number, ToAt: b.At, Verdict: o.Verdict, Lines: []Line{}}
	switch {
	case bytes.Equal(a.Body, b.Body):
		d.Of, d.Equal = Bytes, true
		d.Unseen = headerFacts(a.Header, b.Header)
	case !o.Raw && d.content(a, b, o), !o.Raw && d.unseen(a, b), isText(a.Body) && isText(b.Body) && d.source(a, b):
	default:
		d.bytes(a, b)
	}
	if d.Of == Content || d.Of == Beside {
		d.alsoUnseen(a, b)
	}
	d.count()
	d.Lines = near(d.Lines, o.Context)
	d.Unified = d.unified()
	d.summarize(a, b)
	return d
}

// content compares what a reader sees; false: that is the same, or there is nothing to see.
func (d *Difference) content(a, b Version, o Options) bool {
	if a.View == nil || b.View == nil || a.View.Kind == content.Other || b.View.Kind == content.Other {
		return false
	}
	d.cut(a, b)
	main := func(block *content.Block) bool { return block.Main }
	rest := func(block *content.Block) bool { return !block.Main && block.Flags&content.Hidden == 0 }
	lines := linesOf(rowsOf(a.View, main), rowsOf(b.View, main))
	if a.View.Title != b.View.Title {
		lines = append(titleLines(a.View.Title, b.View.Title), lines...)
	}
	beside := linesOf(rowsOf(a.View, rest), rowsOf(b.View, rest))
	found := marks(o.Blocks)
	found.apply(lines, o.Verdict)
	found.apply(beside, o.Verdict)
	if o.Verdict != nil && len(o.Blocks) < mostBlocks {
		found.uncompared(beside)
	}
	for _, l := range beside {
		if l.Op != Same {
			d.Beside = append(d.Beside, l)
		}
	}
	switch {
	case anyDiffers(lines):
		d.Of, d.Lines = Content, lines
	case len(d.Beside) > 0:
		d.Of = Beside
	default:
		return false
	}
	return true
}

// titleLines is what became of the title, in front of all lines.
func titleLines(before, after string) []Line {
	var a, b []row
	if before != "" {
		a = []row{{text: before}}
	}
	if after != "" {
		b = []row{{text: after}}
	}
	lines := linesOf(a, b)
	for i := range lines {
		lines[i].Label, lines[i].Before, lines[i].After = "title", 0, 0
	}
	return lines
}

// cut notes where views end before their bodies do.
func (d *Difference) cut(a, b Version) {
	for _, v := range []Version{a, b} {
		if v.View.Cut {
			d.Notes = append(d.Notes, fmt.Sprintf("of version %d (%s) only the beginning was read: its content is longer than what is compared",
				v.Number, report.Bytes(int64(len(v.Body)))))
		}
	}
}

// unseen compares what nobody sees of two HTML pages that read the same.
func (d *Difference) unseen(a, b Version) bool {
	if a.View == nil || b.View == nil || a.View.Kind != content.HTML || b.View.Kind != content.HTML {
		return false
	}
	facts, left := sourceFacts(d.head(a), d.head(b), false)
	if len(facts) == 0 {
		return false
	}
	d.Of, d.Left = Unseen, left
	d.Unseen = append(facts, headerFacts(a.Header, b.Header)...)
	return true
}

// alsoUnseen adds what else differs where the content does.
func (d *Difference) alsoUnseen(a, b Version) {
	if a.View.Kind == content.HTML && b.View.Kind == content.HTML {
		d.Unseen, d.Left = sourceFacts(d.head(a), d.head(b), true)
	}
	d.Unseen = append(d.Unseen, headerFacts(a.Header, b.Header)...)
}

// source compares the sources line by line, broken up where lines are long; false: that shows no difference.
func (d *Difference) source(a, b Version) bool {
	one, two := string(d.head(a)), string(d.head(b))
	if d.Lines = linesOf(rowsOfText(readable(one)), rowsOfText(readable(two))); !anyDiffers(d.Lines) {
		d.Lines = linesOf(rowsOfText(one), rowsOfText(two))
	}
	if !anyDiffers(d.Lines) {
		d.Lines = []Line{}
		return false
	}
	d.Of = Source
	d.Unseen = headerFacts(a.Header, b.Header)
	return true
}

// bytes says of what is no text, or differs in nothing that shows, what can be said.
func (d *Difference) bytes(a, b Version) {
	d.Of = Bytes
	fact := func(what, before, after string) {
		if before != after {
			d.Unseen = append(d.Unseen, Fact{What: what, Before: before, After: after})
		}
	}
	fact("type", a.ContentType, b.ContentType)
	fact("length", fmt.Sprintf("%d bytes", len(a.Body)), fmt.Sprintf("%d bytes", len(b.Body)))
	at := 0
	for at < min(len(a.Body), len(b.Body)) && a.Body[at] == b.Body[at] {
		at++
	}
	d.Unseen = append(d.Unseen, Fact{What: "bytes", Where: fmt.Sprintf("from byte %d on", at), Before: hex(a.Body, at), After: hex(b.Body, at)})
	fact("SHA-256", models.DigestOf(a.Body).String(), models.DigestOf(b.Body).String())
	d.Unseen = append(d.Unseen, headerFacts(a.Header, b.Header)...)
}

// hex shows a few bytes from a place on.
func hex(body []byte, at int) string {
	if at >= len(body) {
		return "the end"
	}
	return fmt.Sprintf("% x", body[at:min(len(body), at+8)])
}

// head is what of a body is compared by its source; a note says where that is not all.
func (d *Difference) head(v Version) []byte {
	if len(v.Body) <= MostBytes {
		return v.Body
	}
	note := fmt.Sprintf("of the source of version %d (%s) only the first %d MiB were compared", v.Number, report.Bytes(int64(len(v.Body))), MostBytes>>20)
	if !slices.Contains(d.Notes, note) {
		d.Notes = append(d.Notes, note)
	}
	return v.Body[:MostBytes]
}

// isText tells whether a person can read the source.
func isText(body []byte) bool {
	return !bytes.ContainsRune(body[:min(len(body), 8000)], 0)
}

// longLine is the length from which on a line of a source is broken at its tags.
const longLine = 240

// readable breaks the lines of a source that are too long to compare by eye, as of a page without line ends.
func readable(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		if len(line) > longLine {
			line = strings.NewReplacer("><", ">\n<", "},{", "},\n{", `,"`, ",\n\"").Replace(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

func (d *Difference) count() {
	for _, l := range d.Lines {
		switch l.Op {
		case Added:
			d.Added++
		case Removed:
			d.Removed++
		case Changed:
			d.Added++
			d.Removed++
		}
	}
}

// near keeps the lines that differ and so many of the same around each.
func near(lines []Line, context int) []Line {
	keep := make([]bool, len(lines))
	for i := range lines {
		if lines[i].Op != Same {
			for j := max(0, i-context); j < min(len(lines), i+context+1); j++ {
				keep[j] = true
			}
		}
	}
	out := []Line{}
	for i := range lines {
		if keep[i] {
			out = append(out, lines[i])
		}
	}
	return out
}

// marked is what was found of blocks, by their text before and after.
type marked map[string]content.BlockChange

func marks(blocks []content.BlockChange) marked {
	m := marked{}
	for _, b := range blocks {
		if b.Before != "" {
			m["-"+b.Before] = b
		}
		if b.After != "" {
			m["+"+b.After] = b
		}
	}
	return m
}

// apply marks lines as noise where all that was found of them is, or of the whole.
func (m marked) apply(lines []Line, v *Verdict) {
	all := v != nil && v.Kind == "noise"
	for i := range lines {
		l := &lines[i]
		if l.Op == Same {
			continue
		}
		old, known := m["-"+l.Old]
		now, also := m["+"+l.New]
		switch {
		case known && also:
			l.Noise, l.Reasons = old.Noise && now.Noise, (old.Reason | now.Reason).Words()
		case known:
			l.Noise, l.Reasons = old.Noise, old.Reason.Words()
		case also:
			l.Noise, l.Reasons = now.Noise, now.Reason.Words()
		case l.ignored:
			l.Noise, l.Reasons = true, models.ReasonIgnored.Words()
		}
		l.Noise = l.Noise || all
	}
}

// mostBlocks is how many blocks a verdict lists at most.
const mostBlocks = 100

// uncompared marks as noise what stands beside the content and was found to be nothing at all: it was not compared.
func (m marked) uncompared(lines []Line) {
	for i := range lines {
		l := &lines[i]
		_, old := m["-"+l.Old]
		_, now := m["+"+l.New]
		l.Noise = l.Noise || l.Op != Same && !old && !now
	}
}
