package main

import (
	"fmt"
	"strings"
	"time"

	"recrawld/config"
)

// link opens in a browser what the daemon's own server shows; "": there is none.
func (d *daemon) link() string {
	if d.web == nil {
		return ""
	}
	return openLink(d.web.Addr(), d.token)
}

// greet says what runs: in a few lines to a person, in one line to a log.
func (d *daemon) greet() {
	force := d.force.Load()
	c := &force.config
	listen := "off"
	if d.web != nil {
		listen = "http://" + d.web.Addr().String()
	}
	if !isTerminal(d.g.Stderr) {
		attrs := []any{"version", versionText(), "worker", c.Worker.Name, "store", storeName(c), "data", c.Data,
			"sites", len(force.rows), "listen", listen}
		if d.anchor.Speed > 0 {
			attrs = append(attrs, "speed", d.anchor.Speed)
		}
		d.log.Info("begins", attrs...)
		return
	}
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "recrawld %s\n", versionText())
	for i, row := range force.rows {
		if i == 8 {
			line("", "and %d more (recrawld status)", len(force.rows)-i)
			break
		}
		state := ""
		if row.Paused {
			state = "  (paused)"
		}
		line(map[bool]string{true: "sites"}[i == 0], "%s%s", row.URL, state)
	}
	if len(force.rows) == 0 {
		line("sites", "none yet: recrawld add URL, in another terminal")
	}
	line("data", "%s", c.Data)
	line("store", "%s", storeName(c))
	if c.Mirror.Dir != "off" {
		line("mirror", "%s", c.Mirror.Dir)
	}
	line("listen", "%s", listen)
	if link := d.link(); link != "" {
		line("look", "%s", link)
	}
	line("contact", "%s", orNone(c.Agent.Contact))
	line("cycle", "%s", c.Cycle)
	line("times", "UTC, as in all commands")
	if d.anchor.Speed > 0 {
		line("clock", "%g times as fast, now %s", d.anchor.Speed, d.clock.Now().Format(time.DateTime))
	}
	fmt.Fprintf(&b, "  Ctrl-C ends it after the visits under way; recrawld status says more.\n\n")
	_, _ = fmt.Fprint(d.g.Stderr, b.String())
}

// afterGrace is how long the rest of the end takes at most, once the visits have had their grace: what is left is written and
// delivered, or given up where the database does not answer.
const afterGrace = 20 * time.Second

// stopping says that the end has begun.
func (d *daemon) stopping() {
	d.notify.stopping(d.start.Worker.Grace + afterGrace)
	d.log.Info("stopping: visits under way may finish, once more ends at once", "grace", d.start.Worker.Grace)
}

// storeName is the database without its password.
func storeName(c *config.Config) string {
	for _, v := range c.Values(nil) {
		if v.Site == "" && v.Key == "store" {
			return strings.Trim(v.Value, `"`) // YAML quotes some
		}
	}
	return c.Store
}

func orNone(text string) string {
	if text == "" {
		return "none (only sites on this machine)"
	}
	return text
}
