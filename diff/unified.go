package diff

import (
	"fmt"
	"strings"
)

// hunks cuts lines where some of the same were left out between them.
func hunks(lines []Line) [][]Line {
	var out [][]Line
	start, before, after := 0, 1, 1
	for i, l := range lines {
		if i > start && (l.Before > before || l.After > after) {
			out = append(out, lines[start:i])
			start = i
		}
		if l.Before > 0 {
			before = l.Before + 1
		}
		if l.After > 0 {
			after = l.After + 1
		}
	}
	if start < len(lines) {
		out = append(out, lines[start:])
	}
	return out
}

// unified writes lines, then what stands beside the content and what is not seen, each as a file of its own. It is empty
// only where nothing differs. For a source it is a patch; lines of a page whose links differ name them.
func (d *Difference) unified() string {
	var b strings.Builder
	part := func(name string) {
		fmt.Fprintf(&b, "--- version %d%s\n+++ version %d%s\n", d.From, name, d.To, name)
	}
	if anyDiffers(d.Lines) {
		part("")
		for _, hunk := range hunks(d.Lines) {
			writeHunk(&b, hunk)
		}
	}
	if len(d.Beside) > 0 {
		part(", beside the content")
		for _, hunk := range hunks(d.Beside) {
			writeHunk(&b, hunk)
		}
	}
	if len(d.Unseen) > 0 {
		part(", not seen")
		fmt.Fprintf(&b, "@@ -1,%d +1,%d @@\n", count(d.Unseen, true), count(d.Unseen, false))
		for _, f := range d.Unseen {
			if f.Before != "" {
				fmt.Fprintf(&b, "-%s: %s\n", f.name(), oneLine(f.Before))
			}
			if f.After != "" {
				fmt.Fprintf(&b, "+%s: %s\n", f.name(), oneLine(f.After))
			}
		}
	}
	return b.String()
}

func count(facts []Fact, before bool) int {
	n := 0
	for _, f := range facts {
		if before && f.Before != "" || !before && f.After != "" {
			n++
		}
	}
	return n
}

// name is what a fact is of: "header ETag".
func (f Fact) name() string {
	if f.Where == "" {
		return f.What
	}
	return f.What + " " + f.Where
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// writeHunk writes a run of lines, of each change the removed ones first.
func writeHunk(b *strings.Builder, lines []Line) {
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(lines, Added, func(l Line) int { return l.Before }),
		span(lines, Removed, func(l Line) int { return l.After }))
	var added []string
	flush := func() {
		for _, line := range added {
			b.WriteString("+" + line + "\n")
		}
		added = added[:0]
	}
	for _, l := range lines {
		switch l.Op {
		case Same:
			flush()
			b.WriteString(" " + l.New + "\n")
		case Removed:
			b.WriteString("-" + l.Old + "\n")
		case Added:
			added = append(added, l.New)
		case Changed:
			b.WriteString("-" + l.Old + l.aside(true) + "\n")
			added = append(added, l.New+l.aside(false))
		}
	}
	flush()
}

// aside names what of a changed line its words do not say: " (link https://example.org/)".
func (l *Line) aside(before bool) string {
	var words []string
	for _, f := range l.Facts {
		value := f.After
		if before {
			value = f.Before
		}
		if value == "" {
			value = "none"
		}
		words = append(words, f.What+" "+value)
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// span is the place of a hunk in one version: its first line and how many. A hunk that has no line there, but only such of
// the other version, names the line that it follows.
func span(lines []Line, other Op, number func(Line) int) string {
	first, n := 0, 0
	for _, l := range lines {
		if number(l) == 0 {
			continue
		}
		if n++; first == 0 {
			first = number(l)
		}
	}
	if n == 0 && len(lines) > 0 && lines[0].Op == other {
		first = lines[0].behind
	}
	return fmt.Sprintf("%d,%d", first, n)
}
