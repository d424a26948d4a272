package scope

import (
	"fmt"

	"recrawld/config"
	"recrawld/recrawl/canon"
)

// compileRequisites prepares what holds for the site's requisites.
func (s *Scope) compileRequisites(site config.Site) error {
	s.needed = "requisites: " + site.Settings.Requisites
	s.elsewhere = s.needed + ": its host is none of the site's"
	filter := site.Settings.RequisitesFilter
	if filter.IsZero() {
		return nil
	}
	var err error
	if s.requisites, err = compile(filter, false); err != nil {
		return fmt.Errorf("compile requisites_filter of site %s: %w", site.Name, err)
	}
	return nil
}

// DecideRequisite says whether a URL that a page of the site needs to be shown is kept because of that, whatever Decide says of it.
// Neither the paths of the site's prefixes nor the level nor the filter count, but the limits against traps and requisites_filter
// do. With requisites: site the hosts are those of the prefixes.
func (s *Scope) DecideRequisite(u canon.URL) Verdict {
	switch {
	case u.IsZero():
		return Verdict{Rule: "not a URL"}
	case !s.limits.KeepsRequisites():
		return Verdict{Rule: "requisites: off"}
	case s.limits.Requisites == config.RequisitesSite && !s.anywhere && s.prefixes[bareHost(u)] == nil:
		return Verdict{Rule: s.elsewhere}
	}
	if trap := s.trap(u); trap != "" {
		return Verdict{Rule: trap}
	}
	if s.requisites == nil {
		return Verdict{Keep: true, Rule: s.needed}
	}
	keep, sentence := s.requisites.decide(u)
	return Verdict{Keep: keep, Rule: "requisites_" + sentence}
}

// Known is as what a page is known.
type Known struct {
	Level     int
	Requisite bool // it was found as one
	List      bool // it is one, or named as one
}

// DecideKnown says whether a page is kept that is known already: one that was found as a requisite is where Decide or
// DecideRequisite keeps it, and a list on whatever level, for what it says of other pages that are known.
func (s *Scope) DecideKnown(u canon.URL, as Known) Verdict {
	level := as.Level
	if as.List {
		level = min(level, s.limits.Level)
	}
	verdict := s.Decide(u, level)
	if as.Requisite && !verdict.Keep {
		verdict = s.DecideRequisite(u)
		verdict.Needed = verdict.Keep
	}
	return verdict
}
