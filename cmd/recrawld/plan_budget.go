package main

import (
	"fmt"
	"math"
	"strings"

	"recrawld/config"
	"recrawld/scheduler/slo"
)

// parseBudget reads a budget to plan for: one of requests, one of bytes, or both with a comma between them, as planBudget shows it.
func parseBudget(text string) (config.Budget, error) {
	var b config.Budget
	parts := strings.Split(text, ",")
	for _, part := range parts {
		part = strings.TrimSpace(part)
		size, _, _ := strings.Cut(part, "/")
		var err error
		if _, no := config.ParseSize(size); no == nil {
			b.Bytes, err = config.ParseBytesADay(part)
		} else if b.Requests, err = config.ParseRate(part); err != nil {
			err = fmt.Errorf("%w; a size like 50MB/day is taken, too", err)
		}
		if err != nil {
			return b, err
		}
	}
	if b.IsZero() || len(parts) > 1 && (len(parts) > 2 || b.Bytes == 0 || b.Requests.PerDay == 0) {
		return b, fmt.Errorf("%q is no budget to plan for, write one like 2000/day, 50MB/day or 2000/day,50MB/day", text)
	}
	return b, nil
}

// planBudgetText is a budget as parseBudget reads it.
func planBudgetText(b config.Budget) string { return strings.Join(budgetParts(b), ", ") }

// asked is a budget that is not in force but asked for. Its ceiling follows it as that of one in force does: where it is of bytes, by those
// that its visits have.
func (s *planSite) asked(asked config.Budget) (planBudget, error) {
	b := planBudget{Budget: planBudgetText(asked), From: "--budget", PerDay: asked.Requests.Of(int64(s.pages)), Bytes: asked.Bytes}
	b.ceiling = s.ceiling(b.PerDay)
	for range 20 {
		plan, err := slo.New(s.under(b.ceiling), 0)
		if err != nil {
			return b, err
		}
		best := s.best(&b, plan)
		if b.Bytes == 0 || best.Bytes == 0 {
			break
		}
		last := b.ceiling
		if b.ceiling = max(last, s.ceiling(float64(b.Bytes)*best.PerDay/best.Bytes)); b.ceiling <= last+last/256 {
			break
		}
	}
	return b, nil
}

// reach is what a budget reaches, and whether it suffices for a service level.
func (s *planSite) reach(b *planBudget, goal config.Goal, need *planGoal) error {
	b.Share = usualShare
	if goal.Within > 0 {
		b.Share = goal.Share
	}
	site := s.under(b.ceiling)
	fresh, err := slo.New(site, 0)
	if err != nil {
		return err
	}
	best := s.best(b, fresh)
	b.Fresh, b.Best = best.Share, shownSchedule(best)
	soonest, ok, err := slo.Soonest(site, b.Share, func(p *slo.Plan) slo.Schedule { return s.best(b, p) })
	if err != nil {
		return err
	}
	if ok {
		b.Soonest = soonest.Seconds()
	}
	if goal.Within > 0 || need == nil && ok {
		within := max(goal.Within, 0)
		if need == nil {
			within = soonest
		}
		plan, err := slo.New(site, within)
		if err != nil {
			return err
		}
		b.Best = shownSchedule(s.best(b, plan))
	}
	if b.PerDay > 0 {
		b.Unused = max(0, b.PerDay-fresh.Most().PerDay)
	}
	if need != nil {
		suffices := need.Attainable && b.Best.Share >= need.Share-1e-6
		b.Suffices = &suffices
	}
	return nil
}

// best is the best schedule that a budget pays for.
func (s *planSite) best(b *planBudget, plan *slo.Plan) slo.Schedule {
	most := plan.Most()
	if b.PerDay > 0 && b.PerDay < most.PerDay {
		most = plan.With(b.PerDay)
	}
	if b.Bytes == 0 || s.site.Body == 0 || most.Bytes <= float64(b.Bytes) {
		return most
	}
	return withBytes(plan, float64(b.Bytes), most)
}

// withBytes is the best schedule with so many bytes a day, less than most has. Those of a visit depend on how often the page changes between
// two, so how many visits they pay for is found in steps, by the Illinois method: a schedule takes time, and with halves it would take five times as many.
func withBytes(plan *slo.Plan, bytes float64, most slo.Schedule) slo.Schedule {
	low, high, below, above := 0.0, most.PerDay, bytes, most.Bytes-bytes
	last := 0.0
	for range 60 {
		perDay := (low*above + high*below) / (above + below)
		s := plan.With(perDay)
		off := s.Bytes - bytes
		if math.Abs(off) <= bytes*1e-7 {
			return s
		}
		if off < 0 {
			low, below = perDay, -off
			if last < 0 {
				above /= 2
			}
		} else {
			high, above = perDay, off
			if last > 0 {
				below /= 2
			}
		}
		last = off
	}
	return plan.With(low)
}

// raised is b with as much as a schedule takes in place of what is less.
func (b *planBudget) raised(need *planSchedule) string {
	var to config.Budget
	if b.Bytes > 0 && float64(b.Bytes) < need.Bytes {
		to.Bytes = roundedUp(need.Bytes)
	}
	if b.PerDay > 0 && b.PerDay < need.PerDay || to.Bytes == 0 {
		to.Requests.PerDay = math.Ceil(need.PerDay)
	}
	return planBudgetText(to)
}

// roundedUp is a number of bytes in four digits or less of a unit that a configuration has.
func roundedUp(bytes float64) int64 {
	unit := 1.0
	for bytes > 9999*unit {
		unit *= 1 << 10
	}
	return int64(math.Ceil(bytes/unit) * unit)
}
