package main

import (
	"math"
	"strings"
	"unicode/utf8"
)

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

// fit cuts what would not fit on a line.
func fit(s string, width int) string {
	if visibleWidth(s) <= width {
		return s
	}
	var b strings.Builder
	n, escaped := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escaped = true
		case escaped:
			escaped = r != 'm'
		case n == width-1:
			return b.String() + "…\x1b[0m"
		default:
			n++
		}
		b.WriteRune(r)
	}
	return b.String()
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
