package content

import (
	"time"
	"unicode/utf8"

	"recrawld/models"
)

// How long what stands in a page's place must stand before it is taken for what the page is now. An outage passes, however
// often it is seen: of pages that answer 200 all through maintenance nothing is lost as long as that takes no longer.
const (
	standPlain   = 4 * 24 * time.Hour  // a short text that says nothing of an error: longer than a weekend with a holiday
	standFramed  = 12 * time.Hour      // likewise in the page's own frame, where other pages of the host are well: longer than a night
	standSigned  = 7 * 24 * time.Hour  // an error, a loading screen, and what other pages of the host show too
	standBarred  = 30 * 24 * time.Hour // a log-in form, a block page: they speak of who asks
	standWhole   = 30 * 24 * time.Hour // a text as long as a page that others show too, while none shows its own
	standMissing = 24 * time.Hour      // that it is not to be found, where other pages of the host are
	standOther   = 24 * time.Hour      // another document, where nothing is known of the host's other pages
)

// How often it must have been seen, besides.
const (
	enoughAlike  = 3 // the same view in a row
	enoughUnlike = 6 // any views in a row, over twice the time: a page that was replaced by a short one that is another each time
	enoughOther  = 2 // another document of no lesser size, alike or not
)

// overdue is how long after the moment that a visit was due it may come for the time since the one before to count: who stood
// still meanwhile saw nothing.
const overdue = 24 * time.Hour

// absence is what is known of a view that is not the page's content, for the judgement whether it is what the page is now.
type absence struct {
	class  models.ErrorClass
	signed bool // its words say that it is an error, or there are none
	gone   bool // they say that the page is not to be found
	framed bool // there is a text, in the page's own frame; or it leads elsewhere at once
	large  bool // it is no shorter than a page: another document
	others int  // other pages of the host, with other contents before, that show the same
	alive  bool // other pages of the host showed their content since this one does not
	renews bool // or became other documents too, each another
	curt   bool // it says next to nothing else
}

// becomes says what such a view comes to be taken for, and after how long; never where that is 0. Nothing that other pages
// show too is an edition of this one because of its age alone: where the host's other pages are well it is the host's answer
// for what is no more, otherwise the host is not. A large one may be what pages were put together into.
func (a *absence) becomes() (kind VerdictKind, after time.Duration) {
	switch {
	case a.large && a.others > 0 && a.alive:
		return Change, standSigned
	case a.large && a.others > 0: // all of the host are one: a shop that is being rebuilt rather than pages that were put together
		return Change, standWhole
	case a.large && (a.alive || a.renews):
		return Change, 1
	case a.large:
		return Change, standOther
	case a.class == models.LoginWall || a.class == models.BlockPage:
		if a.others > 0 {
			return Transient, 0
		}
		return Change, standBarred
	case a.gone && a.alive:
		return SoftMissing, standMissing
	case a.gone && a.others == 0:
		return SoftMissing, standSigned
	case a.others > 0 && (!a.alive || a.signed):
		return Transient, 0
	case a.others > 0:
		return SoftMissing, standSigned
	case a.signed:
		return Change, standSigned
	case a.framed && a.alive:
		return Change, standFramed
	}
	return Change, standPlain
}

// row is what is remembered of the present views in a row that are not the page's content. The zero row is none.
type row struct {
	look  uint64 // print of the last
	alike uint8  // how often in a row it came
	all   uint8  // how many came in a row, this one or others: since the last that other pages of a host that is down showed too
	large bool   // the last is no shorter than a page, and so are all that are counted

	since int64 // Unix seconds of the first
	first int64 // of the first that looks as the last
	last  int64 // of the last
	stood int64 // seconds that it was seen to look as it does
	whole int64 // seconds for which those were seen that are counted in all
}

// add counts a view; due is when the visit that saw it was due, 0: not known. What comes before it in a clock's time came
// now.
func (r *row) add(look uint64, large bool, now, due int64) {
	if r.since == 0 { // rows of a release before this have no times
		*r = row{since: now, last: now}
	}
	until := now
	if due != 0 {
		until = min(until, due+int64(overdue.Seconds()))
	}
	gap := max(until-r.last, 0)
	if r.look != look || r.alike == 0 {
		r.look, r.alike, r.stood, r.first = look, 0, 0, now
	} else {
		r.stood += gap
	}
	r.whole += gap
	if r.large != large { // a short message and then a long one is no page that always shows another document
		r.large = large
		r.nothing()
	}
	r.since, r.first, r.last = min(r.since, now), min(r.first, now), now
	r.alike, r.all = min(r.alike, maxRow-1)+1, min(r.all, maxRow-1)+1
}

// nothing says that the views so far, taken together, say nothing of what the page is; the last by itself may.
func (r *row) nothing() { r.all, r.whole = 0, 0 }

// maxRow is how many views in a row are counted.
const maxRow = 1<<8 - 1

// stands tells whether the row is long enough for what it becomes after so long, and how much longer it takes.
func (r *row) stands(a *absence, after time.Duration) (is bool, left time.Duration) {
	stood, whole := time.Duration(r.stood)*time.Second, time.Duration(r.whole)*time.Second
	left = max(after-stood, 0)
	if a.large && a.others == 0 { // another one each time is no outage, but a page that always shows something else
		return r.all >= enoughOther && (left == 0 || r.alike == 1), left
	}
	return r.alike >= enoughAlike && left == 0 || r.all >= enoughUnlike && whole >= 2*after, left
}

// doubtful is rung 3: what is no content of the page, or another document than it was.
func (c *Case) doubtful() (Verdict, bool) {
	a, own, is := c.absent()
	if !is {
		return Verdict{}, false
	}
	look, now := c.After.look(), c.Now.Unix()
	order, decided := c.Orders.of(look)
	if decided && !order.Noise {
		return Verdict{}, false // a person said that it is what the page is now
	}
	if c.Good {
		c.Page.good()
	}
	r := &c.Page.absent
	r.add(look, a.large, now, unixOf(c.Due))
	seen := sighting{page: pagePrint(c.PageID), before: uint32(c.Before.look()), at: now}
	others := c.Host.shows(look, c.After, a.large, seen)
	a.renews = a.large && c.Host.renewed(look, c.After, seen)
	a.others, a.alive = len(others), c.HostShown.Unix() > r.first && !c.HostShown.IsZero()
	if a.large && a.others == 0 && !decided && (c.Before.Title == c.After.Title || c.Page.replaced > 0) {
		c.Page.good() // it alone has a new text, or had one before; what it shows is remembered, should others show it too
		return c.compared(), true
	}
	v := Verdict{Kind: Transient, Class: a.class, Own: own, Reasons: models.ReasonErrorPage, Since: time.Unix(r.since, 0).UTC(), Others: a.others}
	if a.class == models.Shell {
		v.Reasons = models.ReasonShrunk
	}
	d := compare(c.Before, c.After, mainBlock)
	v.Blocks = d.changes(d.pairs())
	if !decided { // otherwise a person said that it is never the page
		c.replaced(&a, &v)
	}
	if a.others > 0 && c.HostShown.Unix() <= r.since { // or whoever is asked first when the message is changed would show another one
		r.nothing()
	}
	return v, true
}

// replaced says what the view has come to be taken for in place of the content that was, or what it will be and when.
func (c *Case) replaced(a *absence, v *Verdict) {
	becomes, after := a.becomes()
	if after == 0 || !c.conclude(a, v, becomes, after) || becomes != Change {
		return
	}
	if a.large { // a document as long as a page turned out to be no error
		v.Reasons = models.ReasonText
	}
	c.Page.good()
	c.Page.replaced++
	c.Page.remember(c.After.mainHash())
}

// conclude tells whether a view has stood for long enough to be taken for what it becomes, and otherwise says when it will have.
func (c *Case) conclude(a *absence, v *Verdict, becomes VerdictKind, after time.Duration) bool {
	stands, left := c.Page.absent.stands(a, after)
	if !stands {
		v.Becomes, v.Until = becomes, c.Now.Add(left).Truncate(time.Second)
		return false
	}
	v.Kind, v.Class = becomes, models.ClassNone
	if becomes == Change {
		v.Significance = 1
	}
	return true
}

// absent tells whether After shows next to nothing of the page's content, and in what way.
func (c *Case) absent() (a absence, own, is bool) {
	if c.Before.Kind.isFile() {
		a = absentFile(c.After)
		return a, false, !a.large || !c.Kept
	}
	o := overlapOf(c.Before, c.After)
	class, own, is := transient(&o, c.Before, c.After)
	if is {
		leads := c.After.LeadsTo != ""
		signs, framed := signsOf(c.After), leads || o.frame && saysMore(c.Before, c.After)
		signed := signs != models.ClassNone && (signs != models.ErrorPage || !framed || !c.After.leads())
		return absence{class: class, framed: framed, signed: signed || !leads && c.After.blank(), gone: class != models.LoginWall &&
			class != models.BlockPage && saysGone(c.After)}, own, true
	}
	if o.kept < lostShare && !c.Kept && other(c.Before, c.After) {
		return absence{class: models.ErrorPage, large: true}, false, true
	}
	return absence{}, false, false
}

// absentFile is absent for what stands in the place of a PDF or an image, which has no text to hold it against: it is doubtful at first,
// whatever it says.
func absentFile(after *View) absence {
	class := signsOf(after)
	a := absence{class: class, signed: class != models.ClassNone || after.blank()}
	switch {
	case class == models.BlockPage:
	case after.forms > 0:
		a.class = models.LoginWall
	case after.blank():
		a.class = models.Shell
	case class == models.ClassNone:
		a.class, a.large = models.ErrorPage, utf8.RuneCountInString(after.Text()) >= enoughRunes
	}
	a.gone = a.class != models.LoginWall && a.class != models.BlockPage && saysGone(after)
	return a
}

func unixOf(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}
