package config

import (
	"fmt"
	"net/url"
	"time"
)

// Validate checks every bound and every relation between values of a Config that was put together or changed in code;
// Load, Parse and WithSites have checked what they return. The error is of type Problems. Whether a contact is needed
// is not its business: see CheckContact.
func (c *Config) Validate() error {
	problems := bounds(configFields, c, "")
	problems = append(problems, bounds(settingFields, &c.Defaults, "defaults.")...)
	for i := range c.Sites {
		site := &c.Sites[i]
		if err := checkURL(site.URL); err != nil {
			problems = append(problems, Problem{Text: fmt.Sprintf("site %s: url: %v", site.Name, err)})
		}
		if err := checkName(site.Name); err != nil {
			problems = append(problems, Problem{Text: fmt.Sprintf("site %s: name: %v", site.Name, err)})
		}
		problems = append(problems, bounds(settingFields, &site.Settings, "site "+site.Name+": ")...)
	}
	return append(problems, c.relations(nil)...).err()
}

func bounds[T any](fields []field[T], from *T, prefix string) Problems {
	var problems Problems
	for _, f := range fields {
		if f.short != "" {
			continue
		}
		if err := f.of(from).check(); err != nil {
			problems = append(problems, Problem{Text: prefix + f.key + ": " + err.Error()})
		}
	}
	return problems
}

// relation is a rule between two values; broken says how it is broken, "" where it is kept.
type relation struct {
	key, other string
	broken     func(*Settings, *Worker) string
}

var settingRelations = []relation{
	{"fr", "fr_max", func(s *Settings, _ *Worker) string {
		if s.FR <= s.FRMax {
			return ""
		}
		return fmt.Sprintf("%d is more than fr_max, which is %d", s.FR, s.FRMax)
	}},
	{"delay", "delay_max", func(s *Settings, _ *Worker) string {
		if s.Delay <= s.DelayMax {
			return ""
		}
		return fmt.Sprintf("%s is more than delay_max, which is %s", FormatDuration(s.Delay), FormatDuration(s.DelayMax))
	}},
	// A lease that ends during a visit lets another worker visit the same host at the same time.
	{"page_time", "worker.lease", func(s *Settings, w *Worker) string {
		if w.Outlasts(s.PageTime) {
			return ""
		}
		return fmt.Sprintf("%s plus a minute (or half the lease) is not less than worker.lease, which is %s", FormatDuration(s.PageTime), FormatDuration(w.Lease))
	}},
	// A body that never fits would wait for ever.
	{"body_bytes", "worker.memory", func(s *Settings, w *Worker) string {
		if s.BodyBytes <= w.Memory {
			return ""
		}
		return fmt.Sprintf("%s is more than worker.memory, which is %s", FormatSize(s.BodyBytes), FormatSize(w.Memory))
	}},
}

// Outlasts tells whether a lease outlasts a page that may take so long, with time to wait for a connection and to write
// what was learned: a minute, or half of a lease that is shorter than two.
func (w *Worker) Outlasts(pageTime time.Duration) bool {
	return pageTime+min(time.Minute, w.Lease/2) < w.Lease
}

// relations checks what no value can be blamed for alone.
func (c *Config) relations(o Origins) Problems {
	var problems Problems
	for _, rel := range settingRelations {
		if text := rel.broken(&c.Defaults, &c.Worker); text != "" {
			problems = append(problems, rel.problem(o, "", text))
		}
	}
	if n := c.Network.Connections; n > 0 && n < c.Worker.Fetchers {
		origin := o.Of(Place{Key: "network.connections"})
		if origin.Source == FromDefault {
			origin = o.Of(Place{Key: "worker.fetchers"})
		}
		problems = append(problems, Problem{File: origin.File, Line: origin.Line,
			Text: fmt.Sprintf("network.connections: %d is less than worker.fetchers, which is %d", n, c.Worker.Fetchers)})
	}
	for i := range c.Mails {
		if m := &c.Mails[i]; c.MailFrom(m) == "" {
			origin := o.Of(Place{Key: "mail"})
			problems = append(problems, Problem{File: origin.File, Line: origin.Line, Text: "mail." + m.Name + ": has no from, and agent.contact is no mail address: write the address that it comes from"})
		}
	}
	names, urls := map[string]bool{}, map[string]string{}
	for i := range c.Sites {
		site := &c.Sites[i]
		origin := o.Of(Place{site.Name, "url"})
		if names[site.Name] {
			problems = append(problems, Problem{File: origin.File, Line: origin.Line, Text: "two sites have the name " + site.Name})
		}
		if other, twice := urls[site.URL]; twice {
			problems = append(problems, Problem{File: origin.File, Line: origin.Line, Text: fmt.Sprintf("site %s: url: is that of site %s too, make one of the two", site.Name, other)})
		}
		names[site.Name], urls[site.URL] = true, site.Name
		problems = append(problems, c.siteRelations(site, o)...)
	}
	return problems
}

// siteRelations leaves out what is wrong in the same way with the defaults: that is told once.
func (c *Config) siteRelations(site *Site, o Origins) Problems {
	var problems Problems
	for _, rel := range settingRelations {
		text := rel.broken(&site.Settings, &c.Worker)
		if text != "" && text != rel.broken(&c.Defaults, &c.Worker) {
			problems = append(problems, rel.problem(o, site.Name, text))
		}
	}
	return problems
}

// problem points to the line of the first of the two values that was set at all.
func (rel relation) problem(o Origins, site, text string) Problem {
	prefix := "defaults."
	if site != "" {
		prefix = ""
	}
	origin := o.Of(Place{site, prefix + rel.key})
	if origin.Source == FromDefault {
		origin = o.Of(Place{site, prefix + rel.other})
	}
	if origin.Source == FromDefault {
		origin = o.Of(Place{Key: rel.other})
	}
	if site != "" {
		prefix = "site " + site + ": "
	}
	return Problem{File: origin.File, Line: origin.Line, Text: prefix + rel.key + ": " + text}
}

// CheckContact is an error unless a contact is set or every site is on this machine: nobody else's server is asked
// without saying who asks. It is apart from Validate because a command can still add the contact.
func (c *Config) CheckContact() error {
	if c.Agent.Contact != "" {
		return nil
	}
	for _, site := range c.Sites {
		u, err := url.Parse(site.URL)
		if err == nil && isLoopback(u.Hostname()) {
			continue
		}
		return fmt.Errorf("agent.contact: is missing, and site %s is not on this machine: "+
			"write a URL or mail address at which you can be reached", site.Name)
	}
	return nil
}
