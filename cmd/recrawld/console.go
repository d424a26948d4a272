package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// console is a log for a person at a terminal: a line a thing that happens, without what does not matter there. Of the
// visits, which are logged as debug, it shows those that found something; with all it shows every one. Times are in UTC, as all that
// recrawld tells is.
type console struct {
	mu     *sync.Mutex
	out    io.Writer // guarded by mu
	all    bool
	colour bool
	attrs  []slog.Attr
}

func newConsole(out io.Writer, all, colour bool) *console {
	return &console{mu: &sync.Mutex{}, out: out, all: all, colour: colour}
}

// Enabled implements slog.Handler.
func (c *console) Enabled(context.Context, slog.Level) bool { return true }

// notable are the outcomes of a visit that a person wants to hear of.
var notable = []string{"first", "changed", "same-text", "moved", "gone", "missing", "failed", "excluded"}

// Handle implements slog.Handler.
func (c *console) Handle(_ context.Context, r slog.Record) error {
	attrs := slices.Clone(c.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	var b bytes.Buffer
	b.WriteString(c.paint("2", r.Time.UTC().Format(time.TimeOnly)) + "  ")
	switch {
	case r.Message == "visit":
		if !c.visit(&b, attrs) {
			return nil
		}
	case r.Level < slog.LevelInfo && !c.all:
		return nil
	default:
		c.line(&b, r.Level, r.Message, attrs)
	}
	b.WriteByte('\n')
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(b.Bytes())
	return err
}

// visit writes a visit, and tells whether it is to be shown.
func (c *console) visit(b *bytes.Buffer, attrs []slog.Attr) bool {
	value := make(map[string]string, len(attrs))
	for _, a := range attrs {
		value[a.Key] = a.Value.String()
	}
	outcome := value["outcome"]
	if !c.all && !slices.Contains(notable, outcome) {
		return false
	}
	colour := map[string]string{"first": "32", "changed": "32", "failed": "31", "gone": "31", "missing": "33"}[outcome]
	fmt.Fprintf(b, "%s %s", c.paint(colour, fmt.Sprintf("%-13s", outcome)), printable(value["page"]))
	if value["class"] != "" {
		fmt.Fprintf(b, "  (%s)", value["class"])
	}
	return true
}

func (c *console) line(b *bytes.Buffer, level slog.Level, message string, attrs []slog.Attr) {
	switch {
	case level >= slog.LevelError:
		b.WriteString(c.paint("31", "error: "))
	case level >= slog.LevelWarn:
		b.WriteString(c.paint("33", "warning: "))
	}
	b.WriteString(message)
	for _, a := range attrs {
		fmt.Fprintf(b, "  %s %s", c.paint("2", a.Key), printable(a.Value.String()))
	}
}

// printable keeps what servers send from doing things to the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, strings.ReplaceAll(text, "\n", "; "))
}

func (c *console) paint(colour, text string) string {
	if !c.colour || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// WithAttrs implements slog.Handler.
func (c *console) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *c
	with.attrs = append(slices.Clone(c.attrs), attrs...)
	return &with
}

// WithGroup implements slog.Handler; a person needs no groups.
func (c *console) WithGroup(string) slog.Handler { return c }
