// Package policy holds the rules that choose a page's interval from what was seen of its changes. Each is one pure
// function; what is common to all (hints of the server, time windows, variation, errors) is the planner's.
package policy

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"recrawld/models"
)

// Input is what a policy looks at, after the visit was counted.
type Input struct {
	Stats   models.ChangeStats
	FRMax   int // the present interval in cycles, ≥ 1
	Start   int // the interval a new page starts with
	Ceiling int // the largest interval
	Records int // how many past records to look at, 2–64

	Cycle time.Duration // length of a cycle at this time, > 0
	Every time.Duration // what the policy asked for last (Page.Wanted); 0: nothing yet
	Even  time.Duration // the interval at which the budget visits all pages alike; 0: there is no budget

	Outlook Outlook // for Adaptive
}

// Choice is the new interval and how it came about.
type Choice struct {
	FRMax int // in cycles, within [1, Ceiling]
	X     int // records looked at; 0 where the policy does not look
	Count int // how often two successive ones differ
	B     int // the interval these records suggest; 0 where the policy has none

	Every time.Duration // the interval itself, within [1, Ceiling] cycles; 0: FRMax cycles
}

// Func is a policy: it is called after every visit that saw the content.
type Func func(Input) Choice

// ByName are the policies an operator can choose.
var ByName = map[string]Func{
	"fixed":   Fixed,
	"classic": Classic,

	AdaptiveName: Adaptive,

	// For comparison only.
	"nutch":   Nutch,
	"storm":   Storm,
	"uniform": Uniform,
}

// Names lists the policies in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(ByName))
	for name := range ByName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Fixed keeps the interval a page started with.
func Fixed(in Input) Choice { return Choice{FRMax: clamp(in.Start, in.Ceiling)} }

// Classic is the fr/fr_max rule. With x = min(records, limit) and counter = how often two successive of the last x
// records differ:
//
//	b = x             where counter = 0
//	b = x / counter   otherwise (its fraction is dropped, which never moves the floor of the half)
//	new fr_max = floor((fr_max + b) / 2), within [1, ceiling]
//
// So the interval moves half of the way to the mean distance of the changes seen. A page that changes on every visit
// goes to 1, one that never does goes to the limit (20 cycles by default) and no further, however still it is. Without
// a record the interval stays.
func Classic(in Input) Choice {
	x := min(int(in.Stats.Records), in.Records)
	if x < 1 {
		return Choice{FRMax: clamp(in.FRMax, in.Ceiling)}
	}
	counter := Differ(in.Stats, x)
	b := x
	if counter > 0 {
		b = x / counter
	}
	return Choice{FRMax: clamp((in.FRMax+b)/2, in.Ceiling), X: x, Count: counter, B: b}
}

// Differ counts how often two successive of the last x records differ. x records have x-1 pairs; of the first record
// of all there is nothing before.
func Differ(s models.ChangeStats, x int) int {
	pairs := min(x, int(s.Records), 64) - 1
	if pairs < 1 {
		return 0
	}
	return bits.OnesCount64(s.Bits & (1<<pairs - 1))
}

func clamp(frMax, ceiling int) int { return max(1, min(frMax, ceiling)) }

// String shows the arithmetic of a choice.
func (c Choice) String() string {
	if c.Every > 0 {
		return fmt.Sprintf("every %s, fr_max %d", c.Every, c.FRMax)
	}
	if c.X == 0 {
		return fmt.Sprintf("fr_max %d", c.FRMax)
	}
	return fmt.Sprintf("%d records looked at, %d differ, b = %d, fr_max %d", c.X, c.Count, c.B, c.FRMax)
}
