package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"recrawld/internal/origin"
	"recrawld/internal/origin/story"
	"recrawld/models"
	"recrawld/report"
)

// demoPanel draws what the daemon learns, in place, on a terminal.
type demoPanel struct {
	out    io.Writer
	world  *origin.World
	cycle  time.Duration
	speed  float64
	length time.Duration // real time that the demo takes
	colour bool
	width  int
	height int

	drawn  int                // lines of the panel on the screen
	traces map[string][]int32 // fr_max over time of the pages that are followed, by URL
}

// newDemoPanel returns a panel of the size of the terminal.
func newDemoPanel(out *os.File, world *origin.World, cycle time.Duration, speed float64, length time.Duration) *demoPanel {
	p := &demoPanel{out: out, world: world, cycle: cycle, speed: speed, length: length, width: 100, height: 40,
		colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", traces: map[string][]int32{}}
	if size, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
		p.width, p.height = min(int(size.Col), 110), int(size.Row)
	}
	return p
}

// demoFollowed are pages whose interval the panel follows: from one that changes every hour to one that never does.
func demoFollowed() [][2]string {
	return [][2]string{{story.Status, "/"}, {story.News, "/"}, {story.Releases, "/"}, {story.Docs, "/reference/configuration"},
		{story.Docs, "/background/glossary"}, {story.About, "/imprint"}}
}

// The widths of the panel's columns.
const (
	demoNameWidth  = 30
	demoTraceWidth = 28
)

// draw writes the panel over the one before.
func (p *demoPanel) draw(f demoFigures, elapsed time.Duration, start time.Time) {
	lines := p.head(f, elapsed, start)
	lines = append(lines, "")
	lines = append(lines, p.sections(f)...)
	lines = append(lines, "")
	lines = append(lines, p.followed(f)...)
	lines = append(lines, "")
	lines = append(lines, p.recent(f)...)
	lines = lines[:min(len(lines), max(p.height-1, 1))]
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", p.drawn)
	} else {
		b.WriteString("\x1b[?25l")
	}
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	p.drawn = len(lines)
	io.WriteString(p.out, b.String())
}

// close gives the cursor back and leaves the last panel standing.
func (p *demoPanel) close() { io.WriteString(p.out, "\x1b[?25h") }

func (p *demoPanel) head(f demoFigures, elapsed time.Duration, start time.Time) []string {
	day := int(f.now.Sub(start)/(24*time.Hour)) + 1
	title := p.paint(bold, "recrawld demo") + p.paint(faint, fmt.Sprintf("   a made-up site, its clock %.0f× as fast", p.speed))
	at := p.paint(bold, f.now.Format("Mon 2 Jan 15:04")) + p.paint(faint, fmt.Sprintf("   day %d", day))
	filled := p.width
	if p.length > 0 {
		filled = int(float64(p.width) * min(1, float64(elapsed)/float64(p.length)))
	}
	progress := p.paint(cyan, strings.Repeat("━", filled)) + p.paint(faint, strings.Repeat("─", p.width-filled))
	counts := strings.Join([]string{
		p.figure(report.Count(f.asked), "visits"),
		p.figure(report.Share(f.sum.NotModified, f.asked), "answered 304"),
		p.figure(report.Count(f.found), fmt.Sprintf("changes found of %s made (%s)", report.Count(f.made), report.Share(f.found, f.made))),
		p.figure(report.Count(f.sum.Failed), "failed"),
	}, p.paint(faint, "  ·  "))
	return []string{spread(title, at, p.width), progress, "", counts}
}

func (p *demoPanel) figure(number, what string) string {
	return p.paint(bold, number) + " " + what
}

// sections shows how far apart the sections' mean intervals have moved.
func (p *demoPanel) sections(f demoFigures) []string {
	bar := max(p.width-demoNameWidth-44, 10)
	lines := []string{p.paint(faint, fmt.Sprintf("%-*s%5s  %-*s%9s%10s%9s", demoNameWidth-10, "section", "pages", bar+14,
		"  a visit every", "", "visits", "changes"))}
	longest := 1.0
	for _, s := range f.sections {
		longest = max(longest, s.mean())
	}
	for _, s := range f.sections {
		length := s.mean() / longest * float64(bar)
		every := "–"
		if s.pages > 0 {
			every = report.Span(time.Duration(s.mean() * float64(p.cycle)))
		}
		lines = append(lines, fmt.Sprintf("%-*s%5d    %s %-12s%9s%10s%9s", demoNameWidth-10, s.label, s.pages,
			p.paint(cyan, pad(barOf(length), bar)), every, "", report.Count(s.visits), report.Count(s.changes)))
	}
	return lines
}

// followed shows how the intervals of a few pages went.
func (p *demoPanel) followed(f demoFigures) []string {
	lines := []string{p.paint(faint, fmt.Sprintf("%-*s%-*s  %s", demoNameWidth, "pages moving apart", demoTraceWidth,
		"  the interval over time", "a visit every"))}
	for _, at := range demoFollowed() {
		host, _ := demoHost(p.world, at[0])
		url := host.URL(at[1])
		page, ok := f.pages[url]
		if !ok || page.Records == 0 {
			continue
		}
		trace := append(p.traces[url], page.FRMax)
		p.traces[url] = trace
		lines = append(lines, fmt.Sprintf("%-*s  %s%-7s %s", demoNameWidth, clip(at[0]+at[1], demoNameWidth-1),
			p.paint(green, pad(sparkline(trace, demoTraceWidth-2), demoTraceWidth)),
			report.Span(time.Duration(page.FRMax)*p.cycle), p.paint(faint, fmt.Sprintf("%s, %s",
				report.Plural(page.Records, "visit"), changesText(page.Changes)))))
	}
	return lines
}

func changesText(n int32) string {
	if n == 0 {
		return "never changed"
	}
	return report.Plural(n, "change")
}

func (p *demoPanel) recent(f demoFigures) []string {
	lines := []string{p.paint(faint, "last changes")}
	for _, e := range f.recent {
		word, colour := e.Kind.String(), green
		switch e.Kind {
		case models.EventChanged:
			word, colour = fmt.Sprintf("changed, version %d", e.Version), cyan
		case models.EventMoved:
			word, colour = "moved to "+demoName(p.world, e.RedirectTo), yellow
		case models.EventGone:
			colour = yellow
		}
		lines = append(lines, fmt.Sprintf("%s  %-*s  %s", p.paint(faint, e.At.Time().Format("Mon 15:04")), demoNameWidth+14,
			clip(demoName(p.world, e.URL), demoNameWidth+14), p.paint(colour, word)))
	}
	return lines
}

// colour is an SGR code.
type colour string

const (
	bold   colour = "1"
	faint  colour = "2"
	green  colour = "32"
	yellow colour = "33"
	cyan   colour = "36"
)

func (p *demoPanel) paint(c colour, text string) string {
	if !p.colour || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// spread puts a and b at the ends of a line. Colours have no width.
func spread(a, b string, width int) string {
	return a + strings.Repeat(" ", max(1, width-visibleWidth(a)-visibleWidth(b))) + b
}

func visibleWidth(s string) (n int) {
	escaped := false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escaped = true
		case escaped:
			escaped = r != 'm'
		default:
			n++
		}
	}
	return n
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// clip cuts the middle out of what is too long.
func clip(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width {
		return s
	}
	head := (width - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-1-head):])
}

// barOf is a bar of a length in characters, to an eighth.
func barOf(length float64) string {
	eighths := int(math.Round(length * 8))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}

// sparkline draws intervals of 1 to 64 cycles, each doubling a step and a half, spread over width characters.
func sparkline(values []int32, width int) string {
	steps := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for i := range min(width, len(values)) {
		v := values[i*len(values)/min(width, len(values))]
		if i == min(width, len(values))-1 {
			v = values[len(values)-1]
		}
		step := math.Log2(float64(max(v, 1))) / 6 * float64(len(steps)-1)
		b.WriteRune(steps[min(int(math.Round(step)), len(steps)-1)])
	}
	return b.String()
}

// demoHost finds a host by its label.
func demoHost(w *origin.World, label string) (*origin.Host, bool) {
	for _, h := range w.Hosts {
		if h.Label == label {
			return h, true
		}
	}
	return nil, false
}
