package content

import (
	"cmp"
	"slices"
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
	Held          time.Time // when Before was received; the zero time: that is not known
	PageID        int64
	URL           canon.URL
	Good          bool      // the last visit found the page's content, so that views without it begin a row of their own
	Due           time.Time // when this visit was due; the zero time: that is not known
	HostShown     time.Time // when a page of the host last showed the content that it had; the zero time: that is not known
	Earlier       bool      // After says by its date (Last-Modified) that it was made before Before was
	Kept          bool      // After was kept as a version of the page: that it is another document is no reason to doubt it
	Records       int32     // visits that saw the page's content so far, for how often a place changes; 0: those that Judge saw
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
	if k > SoftMissing {
		return "unknown"
	}
	return [...]string{"same", "noise", "change", "transient", "soft-missing"}[k]
}

// Verdict is what Judge says.
type Verdict struct {
	Kind         VerdictKind
	Class        models.ErrorClass // of Transient
	Own          bool              // of Transient: a reader still sees the page, with nothing or a message in it
	Since        time.Time         // of Transient: when the page was first seen without its content
	Others       int               // of Transient: other pages of the host that show the same, as far as eight are told apart
	Becomes      VerdictKind       // of Transient: what it will be taken for: Change or SoftMissing; Same: nothing, however long it stays
	Until        time.Time         // of Transient: when, at the earliest, if it stays as it is
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
	Flags         Flags          // of where it stands
	Main          bool           // it belongs to the main content
}

// Judge compares. It never fails, takes time linear in the size of the views (but for sorting their blocks), and changes
// the memories of c. It is a ladder; the first rung that holds decides:
//
//  1. the same bytes                                                     Same
//  2. the host's answer for names that do not exist                      SoftMissing
//  3. next to nothing of the content is left, in a way that content
//     does not change: a shell, an error, a log-in form, a block page;
//     or it is another document, with another title or shown by other
//     pages of the host too                                              Transient, until it has stood for long enough:
//     Change, or SoftMissing where it is what the host shows for what is no more. What other pages show as well is no
//     Change for its age, unless it is as long as a page
//     It is what the page said before, older by its own date:            likewise
//  4. the main content has the same blocks, with the same links          Noise
//  5. all that differs is in places that keep changing, is a region that
//     pages of the host share, or changes by its nature (clocks, ages)   Noise
//  6. the weightiest block that differs is worth less than Threshold     Noise, otherwise Change
//
// Of what was not read of a body that is too long, the bytes decide: where they differ, Noise is a Change. They decide of a file without
// text as well, unless an HTML page stands in its place: rungs 2 and 3 are for that, too, and then it is a Change.
func Judge(c Case) Verdict {
	if c.Page == nil {
		c.Page = &PageMemory{}
	}
	if c.Host == nil {
		c.Host = &HostMemory{}
	}
	v := c.judge()
	v.Retract = c.Host.Withdraw(c.PageID) && c.Page.reported
	if v.Kind == Noise || v.Kind == Change {
		c.Page.reported = v.Kind == Change
	}
	return v
}

func (c *Case) judge() Verdict {
	switch {
	case c.Before.print == c.After.print && c.Before.bytes == c.After.bytes:
		c.good()
		return Verdict{Kind: Same}
	case c.Before.Kind == PDF && c.After.Kind == PDF:
		return c.document()
	case c.After.Kind.isFile(), c.Before.Kind.isFile() && c.After.Kind != HTML:
		return bytesDecide()
	case c.missing():
		return Verdict{Kind: SoftMissing, Reasons: models.ReasonErrorPage}
	}
	if v, is := c.doubtful(); is {
		return v
	}
	if v, is := c.older(); is {
		return v
	}
	c.good()
	return c.compared()
}

// between is the time from the one view to the other.
func (c *Case) between() span { return span{from: c.Held, to: c.Now} }

// bytesDecide is the verdict where one of the two has no text to compare.
func bytesDecide() Verdict {
	return Verdict{Kind: Change, Significance: 1, Reasons: models.ReasonBytes}
}

// compared is the rungs from 4 on.
func (c *Case) compared() Verdict {
	if c.Before.Kind.isFile() && c.After.Kind != PDF {
		return bytesDecide()
	}
	v := c.compare()
	if v.Kind == Noise && c.Before.rest != c.After.rest {
		v.Kind, v.Significance, v.Reasons = Change, 1, v.Reasons|models.ReasonBytes
	}
	return v
}

// document is the verdict on two PDF files that are not the same: where their texts are, something else differs in them.
func (c *Case) document() Verdict {
	c.good()
	v := c.compared()
	if d := compare(c.Before, c.After, anyBlock); d.empty() {
		return bytesDecide()
	}
	return v
}

// missing is rung 2. Where a page that was well turns into that answer within the hour in which the host was asked for it, or one showed it
// before and no other was well since, it is more likely that the host answers so whatever it is asked for: unless it says that the page is
// not to be found, it is forgotten.
func (c *Case) missing() bool {
	at := c.Host.missingLike(c.After)
	if at < 0 || c.Host.IsMissing(c.Before) {
		return false
	}
	asked := c.Host.missing[at].at
	if (c.Good && c.Now.Unix()-asked < hourSeconds || c.Host.downBy(asked, c.After, c.HostShown)) && !saysGone(c.After) {
		c.Host.missing = slices.Delete(c.Host.missing, at, at+1)
		return false
	}
	return true
}

const hourSeconds = 3600

// good notes that the page shows its content.
func (c *Case) good() {
	c.Page.good()
	c.Host.Shown(c.PageID, c.Now)
}

// good notes that the page shows its content.
func (m *PageMemory) good() { m.absent = row{} }

// compare is the rest of the ladder.
func (c *Case) compare() Verdict {
	if len(c.Page.recent) == 0 {
		c.Page.remember(c.Before.mainHash())
	}
	c.Page.seen = max(c.Page.seen+1, uint32(max(c.Records, 0)))
	c.Host.Stays(c.After, c.PageID, c.Now.Unix())
	var v Verdict
	counted := map[spot]bool{}
	for d := range c.content() {
		one := c.judgeDifference(&d, counted)
		if v.Kind == Same || one.Kind == Change {
			one.Reasons, one.Template = one.Reasons|v.Reasons, cmp.Or(one.Template, v.Template)
			one.Blocks = append(one.Blocks, v.Blocks[:min(len(v.Blocks), maxChanges-len(one.Blocks))]...)
			v = one
		}
		if v.Kind == Change {
			break
		}
	}
	if v.Kind == Same {
		return c.beside()
	}
	main := c.After.mainHash()
	if c.Page.remember(main) && main != c.Before.mainHash() {
		v.Reasons |= models.ReasonFlipBack
	}
	return v
}

// judgeDifference is rungs 5 and 6 for a difference of which something is content.
func (c *Case) judgeDifference(d *difference, counted map[spot]bool) Verdict {
	pairs := d.pairs()
	c.classify(pairs)
	d.timetables(pairs)
	c.volatile(d, pairs, counted)
	v := Verdict{Kind: Change, Template: c.template(d, pairs)}
	for i := range pairs {
		p := &pairs[i]
		v.Reasons |= p.noise
		if p.noise == 0 {
			v.Reasons |= p.reason
		}
		v.Significance = max(v.Significance, p.worth)
	}
	v.Blocks = d.changes(pairs)
	if v.Significance < c.Threshold || v.Significance < worthNoise {
		v.Kind = Noise
	}
	return v
}

// classify says what kind of difference each pair is, also where it takes the time of the visit to tell.
func (c *Case) classify(pairs []pair) {
	classify(pairs, c.between())
	for i := range pairs {
		if p := &pairs[i]; p.stamped(c.Now) {
			p.noise, p.worth = p.noise|models.ReasonDateOnly, min(p.worth, worthClock)
		}
	}
}

// worthNoise is the significance below which a difference is noise whatever the threshold.
const worthNoise = 0.15

// mostBeside is the significance of what stands beside the content, at most: it never makes a change by itself.
const mostBeside = 0.45

// beside names what differs where the main content does not.
func (c *Case) beside() Verdict {
	v := Verdict{Kind: Noise, Reasons: models.ReasonMarkupOnly}
	d := compare(c.Before, c.After, anyBlock)
	if d.empty() {
		switch {
		case c.Before.order() != c.After.order():
			v.Reasons, v.Significance = models.ReasonReorder, worthBeside
		case c.Before.Title != c.After.Title:
			v.Reasons, v.Significance = models.ReasonTitle, worthBeside
		}
		return v
	}
	pairs := d.pairs()
	c.classify(pairs)
	for i := range pairs {
		pairs[i].noise |= models.ReasonNav
	}
	v.Reasons = models.ReasonNav
	for _, one := range Differences(c.Before, c.After) {
		v.Significance = max(v.Significance, min(one.Worth(), mostBeside))
	}
	if c.Before.Title != c.After.Title {
		v.Reasons |= models.ReasonTitle
	}
	v.Blocks = d.changes(pairs)
	return v
}

// maxChanges is how many blocks a Verdict lists.
const maxChanges = 100

// changes lists pairs for a person, what matters most first.
func (d *difference) changes(pairs []pair) []BlockChange {
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.worth, a.worth) })
	all := make([]BlockChange, 0, min(len(pairs), maxChanges))
	for i := range pairs[:min(len(pairs), maxChanges)] {
		p := &pairs[i]
		one := BlockChange{Reason: p.reason | p.noise, Noise: p.noise != 0}
		links := p.before != nil && p.after != nil && p.before.Text == p.after.Text
		if p.before != nil {
			one.Before, one.Path, one.Flags, one.Main = p.before.shown(links), d.before.Path(p.before), p.before.Flags, p.before.Main
		}
		if p.after != nil {
			one.After, one.Path, one.Flags, one.Main = p.after.shown(links), d.after.Path(p.after), p.after.Flags, p.after.Main
		}
		all = append(all, one)
	}
	return all
}

// shown is a block's text, with where its links lead where there is no text or the text is not what differs.
func (b *Block) shown(links bool) string {
	s := b.Text
	if s != "" && !links {
		return s
	}
	for _, l := range b.Links {
		s += " <" + l.Whole + ">"
	}
	for _, image := range b.Images {
		s += " [" + image + "]"
	}
	if b.Level > 0 && links {
		s = "######"[:b.Level] + " " + s
	}
	return s
}
