package diff

import (
	"fmt"
	"slices"
	"strings"

	"recrawld/recrawl/content"
)

// Op says what became of a line, or of a span of one.
type Op uint8

// The ops.
const (
	Same    Op = iota
	Removed    // only the version before has it
	Added      // only the version after has it
	Changed    // both have it, with other words, links or another level
)

var opWords = [...]string{"same", "removed", "added", "changed"}

// String is the op's word.
func (o Op) String() string { return opWords[o] }

// MarshalText makes the word its JSON form.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Line is a block of a page, or a line of a source, in one version or both.
type Line struct {
	Op      Op       `json:"op"`
	Label   string   `json:"label,omitempty"`  // "title"
	Before  int      `json:"before,omitempty"` // its number there, from 1; 0: it has none
	After   int      `json:"after,omitempty"`
	Level   int      `json:"level,omitempty"` // 1–6: a heading
	Path    string   `json:"path,omitempty"`  // where it stands in the page
	Old     string   `json:"old,omitempty"`
	New     string   `json:"new,omitempty"`
	Spans   []Span   `json:"spans,omitempty"` // of a changed line, by words
	Facts   []Fact   `json:"facts,omitempty"` // what else differs: links, images, the level of a heading
	Moved   bool     `json:"moved,omitempty"` // the other version has it too, elsewhere
	Noise   bool     `json:"noise,omitempty"` // it does not count as a change
	Reasons []string `json:"reasons,omitempty"`

	behind  int  // of a line of one version: the number of the line of the other that it follows
	ignored bool // the settings of its site say that it is no content
}

// Text is the line as it reads after, or before where it went.
func (l Line) Text() string {
	if l.Op == Removed {
		return l.Old
	}
	return l.New
}

// row is a line of one version.
type row struct {
	text   string
	level  int
	path   string
	links  []string
	images []string

	ignored bool // by the settings of its site
}

// key is equal for rows that a reader could not tell apart.
func (r *row) key() string {
	return fmt.Sprint(r.level) + r.text + "\x00" + strings.Join(r.links, "\x01") + "\x00" + strings.Join(r.images, "\x01")
}

// rowsOf takes the blocks of a view for which keep holds. A block without text reads as what it shows and where it leads.
func rowsOf(v *content.View, keep func(*content.Block) bool) []row {
	var rows []row
	blocks := v.Blocks()
	for i := range blocks {
		b := &blocks[i]
		if !keep(b) || b.Text == "" && len(b.Links) == 0 && len(b.Images) == 0 {
			continue
		}
		r := row{text: b.Text, level: int(b.Level), path: v.Path(b), images: b.Images, ignored: b.Flags&content.Ignored != 0}
		for _, link := range b.Links {
			r.links = append(r.links, link.Whole)
		}
		if r.text == "" {
			r = row{text: "[" + oneLine(strings.Join(slices.Concat(r.images, r.links), " ")) + "]", path: r.path, ignored: r.ignored}
		}
		rows = append(rows, r)
	}
	return rows
}

// rowsOfText is a row for each line.
func rowsOfText(text string) []row {
	var rows []row
	for line := range strings.Lines(text) {
		rows = append(rows, row{text: strings.TrimSuffix(line, "\n")})
	}
	return rows
}

// linesOf compares two versions: all lines in reading order.
func linesOf(a, b []row) []Line {
	keysA, keysB := keys(a), keys(b)
	var out []Line
	i, j := 0, 0
	same := func(until int) {
		for ; i < until; i, j = i+1, j+1 {
			out = append(out, Line{Op: Same, Before: i + 1, After: j + 1, Level: b[j].level, Path: b[j].path, New: b[j].text, ignored: b[j].ignored})
		}
	}
	for _, e := range edits(keysA, keysB) {
		same(e.from)
		out = append(out, changedLines(a, b, e)...)
		i, j = e.to, e.newTo
	}
	same(len(a))
	markMoved(out, a, b)
	return out
}

func keys(rows []row) []string {
	out := make([]string, len(rows))
	for i := range rows {
		out[i] = rows[i].key()
	}
	return out
}

// changedLines is what an edit removed and added, lines that are alike side by side.
func changedLines(a, b []row, e edit) []Line {
	var out []Line
	i, j := e.from, e.newFrom
	upTo := func(toA, toB int) {
		for ; i < toA; i++ {
			out = append(out, Line{Op: Removed, Before: i + 1, behind: j, Level: a[i].level, Path: a[i].path, Old: a[i].text, ignored: a[i].ignored})
		}
		for ; j < toB; j++ {
			out = append(out, Line{Op: Added, After: j + 1, behind: i, Level: b[j].level, Path: b[j].path, New: b[j].text, ignored: b[j].ignored})
		}
	}
	for _, pair := range pairs(a[e.from:e.to], b[e.newFrom:e.newTo]) {
		upTo(e.from+pair[0], e.newFrom+pair[1])
		out = append(out, changedLine(&a[i], &b[j], i, j))
		i, j = i+1, j+1
	}
	upTo(e.to, e.newTo)
	return out
}

func changedLine(old, new *row, i, j int) Line {
	l := Line{Op: Changed, Before: i + 1, After: j + 1, Level: new.level, Path: new.path, Old: old.text, New: new.text, ignored: old.ignored && new.ignored}
	if old.text != new.text {
		l.Spans = spansOf(old.text, new.text)
	}
	if old.level != new.level {
		l.Facts = append(l.Facts, Fact{What: "heading", Before: levelWords(old.level), After: levelWords(new.level)})
	}
	l.Facts = append(l.Facts, listFacts("link", old.links, new.links)...)
	l.Facts = append(l.Facts, listFacts("image", old.images, new.images)...)
	return l
}

func levelWords(level int) string {
	if level == 0 {
		return "no heading"
	}
	return fmt.Sprintf("level %d", level)
}

// listFacts says what two lists have not in common, in order.
func listFacts(what string, old, new []string) []Fact {
	var facts []Fact
	for _, e := range edits(old, new) {
		gone, come := old[e.from:e.to], new[e.newFrom:e.newTo]
		for i := range max(len(gone), len(come)) {
			f := Fact{What: what}
			if i < len(gone) {
				f.Before = gone[i]
			}
			if i < len(come) {
				f.After = come[i]
			}
			facts = append(facts, f)
		}
	}
	return facts
}

// Lines are alike where at least so much of their words is the same: short ones, as of a date, sooner than sentences, which
// share small words with any other.
const (
	alike      = 0.5
	alikeShort = 0.35
	shortRow   = 60 // bytes
)

// mostCost bounds how many bytes are held against each other to pair the lines of an edit.
const mostCost = 1 << 22

// pairs finds which removed line became which added one, in order: the choice with the greatest likeness in all.
func pairs(a, b []row) [][2]int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return nil
	case len(a)*(len(b)+size(b))+len(b)*size(a) > mostCost:
		return pairsInStep(a, b)
	}
	wordsA, wordsB := cut(a), cut(b)
	like := make([][]float64, len(a))
	best := make([][]float64, len(a)+1) // of a[i:] and b[j:]
	for i := range best {
		best[i] = make([]float64, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		like[i] = make([]float64, len(b))
		for j := len(b) - 1; j >= 0; j-- {
			like[i][j] = likeRows(&a[i], &b[j], wordsA[i], wordsB[j])
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if like[i][j] > 0 {
				best[i][j] = max(best[i][j], like[i][j]+best[i+1][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch l := like[i][j]; {
		case l > 0 && best[i][j] == l+best[i+1][j+1]:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return out
}

func size(rows []row) int {
	n := 0
	for i := range rows {
		n += len(rows[i].text)
	}
	return n
}

// pairsInStep pairs the lines of long edits that stand at the same place of both.
func pairsInStep(a, b []row) [][2]int {
	var out [][2]int
	for i := range min(len(a), len(b)) {
		if likeRows(&a[i], &b[i], words(a[i].text), words(b[i].text)) > 0 {
			out = append(out, [2]int{i, i})
		}
	}
	return out
}

func cut(rows []row) [][]string {
	out := make([][]string, len(rows))
	for i := range rows {
		out[i] = words(rows[i].text)
	}
	return out
}

// likeRows is the likeness of two rows, 0 where they are not alike; rows with the same text are, whatever their links.
func likeRows(a, b *row, wordsA, wordsB []string) float64 {
	if a.text == b.text && a.text != "" || a.text == "" && b.text == "" {
		return 1
	}
	least := alike
	if max(len(a.text), len(b.text)) <= shortRow {
		least = alikeShort
	}
	if l := likeness(wordsA, wordsB); l >= least {
		return l
	}
	return 0
}

// markMoved finds lines that went in one place and came in another.
func markMoved(lines []Line, a, b []row) {
	gone := map[string][]int{}
	for n := range lines {
		if lines[n].Op == Removed {
			key := a[lines[n].Before-1].key()
			gone[key] = append(gone[key], n)
		}
	}
	for n := range lines {
		if lines[n].Op != Added {
			continue
		}
		key := b[lines[n].After-1].key()
		if places := gone[key]; len(places) > 0 {
			lines[n].Moved, lines[places[0]].Moved = true, true
			gone[key] = places[1:]
		}
	}
}

// differs tells whether a line is not the same in both versions.
func differs(l Line) bool { return l.Op != Same }

func anyDiffers(lines []Line) bool { return slices.ContainsFunc(lines, differs) }
