package main

import (
	"context"
	"fmt"
	"time"

	"recrawld/config"
	"recrawld/report"
	"recrawld/scheduler/slo"
)

// planCmd says what a service level takes, or what a budget reaches.
type planCmd struct {
	Site   string `arg:"" help:"Name or start URL of the site."`
	SLO    string `name:"slo" placeholder:"LEVEL" help:"Service level: \"95% of changes seen within 6h\", \"p95 delay 6h\" or \"90% fresh\"; without --budget default the slo of the site."`
	Budget string `placeholder:"BUDGET" help:"Budget: 2000/day, 0.2/page/day, 50MB/day, or 2000/day,50MB/day for both bounds; default those in force."`
}

// Help explains what the numbers rest on.
func (planCmd) Help() string {
	return "With --slo: how many visits and bytes a day the service level takes, and whether the budget allows it. With --budget: " +
		"the best service level that it reaches. What is known of the pages' changes comes from the visits recorded here, " +
		"what is possible from delay, windows, cycle and fr_max of the site. `go doc ./scheduler/slo` has the formulas."
}

// Run implements the command.
func (c planCmd) Run(ctx context.Context, g *globals) error {
	var goal config.Goal
	var budget config.Budget
	var err error
	if c.SLO != "" {
		if goal, err = config.ParseGoal(c.SLO); err != nil {
			return usagef("--slo: %w", err)
		}
	}
	if c.Budget != "" {
		if budget, err = parseBudget(c.Budget); err != nil {
			return usagef("--budget: %w", err)
		}
	}
	return g.with(ctx, func(l *look) error {
		id, err := l.siteID(c.Site)
		if err != nil {
			return err
		}
		if site, _ := l.force.site(id); c.SLO == "" && c.Budget == "" {
			goal = site.Settings.SLO
		}
		if goal.IsZero() && budget.IsZero() {
			return usagef("say what is to be reached, --slo \"95%% of changes seen within 6h\" (or slo: of the site), or what may be spent, --budget 2000/day")
		}
		s, err := l.planSite(ctx, id)
		if err != nil {
			return err
		}
		a, err := s.answer(goal, budget)
		if err != nil {
			return err
		}
		if l.JSON {
			return l.printJSON(a)
		}
		return a.write(l.Stdout, l.style)
	})
}

// planAnswer is what the command says; its JSON form is the command's.
type planAnswer struct {
	Site     string       `json:"site"`
	Pages    int          `json:"pages"`
	Unseen   int          `json:"pages_never_compared"` // taken to be as the others
	Hosts    int          `json:"hosts"`
	Changes  float64      `json:"changes_per_day"`
	Goal     *planGoal    `json:"goal,omitempty"`
	Budgets  []planBudget `json:"budgets,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`

	noBytes bool
}

// planGoal is what a service level takes.
type planGoal struct {
	Level      string        `json:"level"`
	Share      float64       `json:"share"`
	Within     float64       `json:"within_seconds,omitempty"`
	Attainable bool          `json:"attainable"` // by some schedule, whatever the budget
	By         []string      `json:"unattainable_by,omitempty"`
	Ways       []string      `json:"ways_out,omitempty"`
	Best       planSchedule  `json:"best"`           // the cheapest; where the level is unattainable what comes nearest to it
	Even       *planSchedule `json:"even,omitempty"` // all pages equally often; null: does not reach it

	goal config.Goal
}

// planBudget is what a budget reaches.
type planBudget struct {
	Budget   string       `json:"budget"` // as in the configuration
	From     string       `json:"from"`   // where it is set
	PerDay   float64      `json:"visits_per_day,omitempty"`
	Bytes    int64        `json:"bytes_per_day,omitempty"`
	Suffices *bool        `json:"suffices,omitempty"` // for the service level asked for
	Best     planSchedule `json:"best"`
	Share    float64      `json:"share"`                    // of the changes ...
	Soonest  float64      `json:"within_seconds,omitempty"` // ... that it can show within this time; 0: not even within a year
	Fresh    float64      `json:"fresh"`                    // share of the pages that it can keep fresh
	Unused   float64      `json:"unused_per_day,omitempty"` // visits that politeness, windows and cycle leave no room for

	ceiling int // in cycles
}

type planSchedule struct {
	PerDay float64    `json:"visits_per_day"`
	Bytes  float64    `json:"bytes_per_day"`
	Share  float64    `json:"share"`
	Steps  []planStep `json:"intervals"`
}

type planStep struct {
	Every float64 `json:"every_seconds"`
	Pages float64 `json:"pages"`
	Rate  float64 `json:"changes_per_page_and_day"`
}

func shownSchedule(s slo.Schedule) planSchedule {
	out := planSchedule{PerDay: s.PerDay, Bytes: s.Bytes, Share: s.Share}
	for _, step := range s.Steps {
		out.Steps = append(out.Steps, planStep{step.Every.Seconds(), step.Pages, step.Rate})
	}
	return out
}

// usualShare is asked of a budget where no share is.
const usualShare = 0.95

// answer works everything out. A zero goal or budget was not asked for.
func (s *planSite) answer(goal config.Goal, asked config.Budget) (*planAnswer, error) {
	a := &planAnswer{Site: s.name, Pages: s.pages, Unseen: s.unseen, Hosts: len(s.site.Hosts), noBytes: s.site.Body == 0}
	for _, c := range s.site.Classes {
		a.Changes += c.Rate * c.Pages
	}
	a.Warnings = s.warnings()
	if goal.Share > 0 {
		g, err := s.goal(goal)
		if err != nil {
			return nil, err
		}
		a.Goal = g
	}
	budgets := s.budgets
	if !asked.IsZero() {
		b, err := s.asked(asked)
		if err != nil {
			return nil, err
		}
		budgets = []planBudget{b}
	}
	for _, b := range budgets {
		if err := s.reach(&b, goal, a.Goal); err != nil {
			return nil, err
		}
		a.Budgets = append(a.Budgets, b)
	}
	return a, nil
}

// goal is what a service level takes.
func (s *planSite) goal(goal config.Goal) (*planGoal, error) {
	plan, best, ok, err := s.need(goal)
	if err != nil {
		return nil, err
	}
	g := &planGoal{Level: goal.String(), Share: goal.Share, Within: goal.Within.Seconds(), Attainable: ok,
		Best: shownSchedule(best), goal: goal}
	if even, ok := plan.Even(goal.Share); ok {
		shown := shownSchedule(even)
		g.Even = &shown
	}
	if ok {
		return g, nil
	}
	limits, err := slo.Limits(s.site, goal.Share, goal.Within)
	for _, limit := range limits {
		g.By = append(g.By, string(limit))
		g.Ways = append(g.Ways, s.wayOut(limit, best))
	}
	return g, err
}

// need is the least that a service level takes, which is found in steps: the longest interval follows the budget, and what is needed that interval.
func (s *planSite) need(goal config.Goal) (plan *slo.Plan, best slo.Schedule, ok bool, err error) {
	site := s.site
	for range 20 {
		if plan, err = slo.New(site, goal.Within); err != nil {
			return nil, best, false, err
		}
		if best, ok = plan.For(goal.Share); !ok {
			return plan, best, ok, nil
		}
		last := site.Longest
		if site = s.under(s.ceiling(best.PerDay)); site.Longest <= last+last/256 {
			break
		}
	}
	return plan, best, ok, nil
}

// wayOut says what could be changed where a limit stands in the way, and where that is set.
func (s *planSite) wayOut(limit slo.Limit, most slo.Schedule) string {
	switch limit {
	case slo.ByPoliteness:
		text := "politeness"
		if len(most.Full) > 0 {
			h := s.site.Hosts[most.Full[0]]
			text = fmt.Sprintf("politeness: %s is asked every %s and so %s times a day at most", h.Name, report.Span(h.Slot),
				planCount(float64(24*time.Hour)/float64(max(h.Slot, 1))*s.open()))
			if n := len(most.Full) - 1; n > 0 {
				text += fmt.Sprintf(" (and %s like it)", report.Plural(n, "host"))
			}
		}
		return text + s.delaysAre(most)
	case slo.ByWindow:
		return fmt.Sprintf("windows: visits are allowed in %s of the week; widen windows (%s)", planShare(s.open()), s.origin("windows"))
	default:
		return fmt.Sprintf("cycle: no page is visited more often than every cycle, %s; shorten cycle (%s)",
			config.FormatDuration(s.cycle.Round(time.Second)), s.force.origins.Of(config.Place{Key: "cycle"}))
	}
}
