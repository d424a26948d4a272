package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

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
	link   string // that shows more in a browser; "": none yet

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

// demoNameWidth is the width of the panel's first column.
const demoNameWidth = 30

// traceWidth is the width of a drawn history: what the other columns leave of the terminal.
func (p *demoPanel) traceWidth() int { return max(10, min(p.width-72, 28)) }

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
		b.WriteString(fit(line, p.width) + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	p.drawn = len(lines)
	io.WriteString(p.out, b.String())
}

// close gives the cursor back and leaves the last panel standing.
func (p *demoPanel) close() { io.WriteString(p.out, "\x1b[?25h") }

func (p *demoPanel) head(f demoFigures, elapsed time.Duration, start time.Time) []string {
	day := int(f.now.Sub(start)/(24*time.Hour)) + 1
	about := fmt.Sprintf("   a made-up site, its clock %.0f× as fast", p.speed)
	if p.width < 95 {
		about = fmt.Sprintf("   a made-up site at %.0f×", p.speed)
	}
	title := p.paint(bold, "recrawld demo") + p.paint(faint, about)
	at := p.paint(bold, f.now.Format("Mon 2 Jan 15:04")) + p.paint(faint, fmt.Sprintf("   day %d", day))
	filled := p.width
	if p.length > 0 {
		filled = int(float64(p.width) * min(1, float64(elapsed)/float64(p.length)))
	}
	progress := p.paint(cyan, strings.Repeat("━", filled)) + p.paint(faint, strings.Repeat("─", p.width-filled))
	notModified, gap := "answered 304", "  ·  "
	if p.width < 95 {
		notModified, gap = "304", " · "
	}
	counts := strings.Join([]string{
		p.figure(report.Count(f.asked), "visits"),
		p.figure(report.Share(f.sum.NotModified, f.asked), notModified),
		p.figure(report.Count(f.found), fmt.Sprintf("changes found of %s made (%s)", report.Count(f.made), report.Share(f.found, f.made))),
		p.figure(report.Count(f.sum.Failed), "failed"),
	}, p.paint(faint, gap))
	look := ""
	if p.link != "" {
		look = p.paint(faint, "in a browser: ") + p.link
	}
	return []string{spread(title, at, p.width), progress, look, counts}
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
	width := p.traceWidth()
	lines := []string{p.paint(faint, fmt.Sprintf("%-*s  %-*s%s", demoNameWidth, "pages moving apart", width,
		[]string{"interval", "the interval over time"}[min(width/26, 1)], "a visit every"))}
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
			p.paint(green, pad(sparkline(trace, width-2), width)),
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
