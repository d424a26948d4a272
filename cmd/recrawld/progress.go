package main

import (
	"fmt"
	"io"
	"time"

	"recrawld/clock"
	"recrawld/report"
)

// progress shows on a terminal, once a second at most, how far something is. The zero progress shows nothing.
type progress struct {
	out         io.Writer // nil: it is no terminal
	part, what  string
	began, said time.Time
	shown       bool
}

func progressOn(out io.Writer) progress {
	if !isTerminal(out) {
		return progress{}
	}
	return progress{out: out}
}

// begin is told before tell: what is counted from now on, and of which part of the work ("" where there is one alone).
func (p *progress) begin(part, what string) {
	p.part, p.what, p.began = part, what, clock.System{}.Now()
	p.said = p.began
}

// tell shows how much of all (0: not known) is done, and how many bytes that were (0: not known).
func (p *progress) tell(done, all, bytes int64) {
	if p.out == nil {
		return
	}
	now := clock.System{}.Now()
	if now.Sub(p.said) < time.Second {
		return
	}
	p.said, p.shown = now, true
	took, words := now.Sub(p.began), report.Count(done)
	if p.part != "" {
		words = p.part + ": " + words
	}
	if all > 0 {
		words += " of " + report.Count(all)
	}
	words += fmt.Sprintf(" %s, %s/s", p.what, report.Count(int64(float64(done)/took.Seconds())))
	if bytes > 0 {
		words += fmt.Sprintf(", %s/s", report.Bytes(int64(float64(bytes)/took.Seconds())))
	}
	if all > done && done > 0 {
		words += ", " + report.Span(took*time.Duration(all-done)/time.Duration(done)) + " left"
	}
	fmt.Fprint(p.out, "\r\x1b[K  "+words+" ")
}

// clear takes the line away.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}
