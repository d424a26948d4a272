package content

import (
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// Case is what Judge is asked: is After, seen Now, another content than Before, the last good version?
type Case struct {
	Before, After *View
	Page          *PageMemory // of this page; changed in place; nil: nothing is remembered
	Host          *HostMemory // of its host; changed in place; nil: nothing is remembered
	Orders        *Orders     // what a person decided of the host's noise; nil: nothing
	Threshold     float64     // 0–1: a change of less significance is noise
	Now           time.Time
	PageID        int64
	URL           canon.URL
}

// VerdictKind says what the difference between two views is.
type VerdictKind uint8

// The kinds of verdict.
const (
	Same        VerdictKind = iota // nothing that is compared differs
	Noise                          // what differs does not matter
	Change                         // the content differs
	Transient                      // After is no content: Class says what; Before stays the reference
	SoftMissing                    // After looks like the host's answer for pages that do not exist
)

// String is the kind's word.
func (k VerdictKind) String() string {
	return [...]string{"same", "noise", "change", "transient", "soft-missing"}[k]
}

// Verdict is what Judge says.
type Verdict struct {
	Kind         VerdictKind
	Class        models.ErrorClass // of Transient
	Significance float64           // 0–1
	Reasons      models.Reasons
	Retract      bool          // the change last reported of this page turned out to be noise of its host
	Template     string        // a sample of the region of the host that changed, where that was found now; one event of the host
	Blocks       []BlockChange // what differs, what matters most first; at most 100
}

// BlockChange is one block that came, went, or reads otherwise.
type BlockChange struct {
	Before, After string // "": it was not there, or is not
	Path          string
	Reason        models.Reasons // what kind of difference it is
	Noise         bool           // it does not count
}

// Judge compares. It never fails, takes time linear in the size of the views, and changes the memories of c.
func Judge(c Case) Verdict {
	if c.Before.print == c.After.print && c.Before.bytes == c.After.bytes {
		return Verdict{Kind: Same}
	}
	d := compare(c.Before, c.After, mainBlock)
	if d.empty() {
		return Verdict{Kind: Noise, Reasons: models.ReasonMarkupOnly}
	}
	return Verdict{Kind: Change, Significance: 1, Reasons: models.ReasonText, Blocks: d.changes()}
}

// changes lists the blocks that came and went.
func (d *difference) changes() []BlockChange {
	var all []BlockChange
	for _, i := range d.gone {
		all = append(all, BlockChange{Before: d.before.blocks[i].shown(), Path: d.before.Path(&d.before.blocks[i])})
	}
	for _, i := range d.come {
		all = append(all, BlockChange{After: d.after.blocks[i].shown(), Path: d.after.Path(&d.after.blocks[i])})
	}
	return all
}

func (b *Block) shown() string {
	s := b.Text
	for _, l := range b.Links {
		s += " <" + l.Whole + ">"
	}
	return s
}

// Rung is one way to tell whether a body is another content; the cheaper ones are what Judge is measured against.
type Rung func(before, after *View) bool

// Rungs are the ways without memory, the simplest first.
func Rungs() (names []string, rungs []Rung) {
	differ := func(hash func(*View, *Block) (uint64, bool)) Rung {
		return func(before, after *View) bool { d := compare(before, after, hash); return !d.empty() }
	}
	return []string{"bytes", "text", "text+links", "main"}, []Rung{
		func(before, after *View) bool { return before.print != after.print },
		differ(anyText), differ(anyLink), differ(mainBlock),
	}
}
