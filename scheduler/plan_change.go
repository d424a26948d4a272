package scheduler

import (
	"math/bits"

	"recrawld/models"
)

// otherBytes counts a body that differs from the one before in its bytes, in what matters or not: the second rate of a
// page. Each such body made a version, which tells of those before they were counted.
func (d *draft) otherBytes() {
	if d.out.Kind.OtherBytes() {
		d.Page.ByteChanges++
		d.Page.BytesAt = models.At(d.now)
	}
	d.Page.ByteChanges = max(d.Page.ByteChanges, d.Page.Version-1)
}

// retract takes back the change that the record before reported, where the visit found that it was noise. What the policy
// then decides, it decides as if that record had not differed. Three things stay. The event and the version are history.
// What the adaptive policy learned of the host cannot be told any more from what other pages taught. And the page's own
// evidence is a sum that does not say how long the page had gone unseen before that record, on which it depends what the
// change added: it holds up to one change too many until the visits to come outweigh it.
func (d *draft) retract() {
	if !d.out.Retract || d.before.Stats.Bits&1 == 0 || d.before.Stats.Changes == 0 {
		return
	}
	before := *d.before // the caller's stays as it was leased
	before.Stats = withoutLast(before.Stats)
	d.before, d.Page.Stats = &before, before.Stats
}

// withoutLast is what a page's visits showed, had the last record not differed. When the change before it was is not kept:
// where there was one, it is taken to be as many records ago as the bits say, as if these lay evenly in time.
func withoutLast(s models.ChangeStats) models.ChangeStats {
	s.Bits &^= 1
	s.Changes--
	s.ChangedAt = 0
	if s.Changes == 0 {
		return s
	}
	ago := models.Instant(bits.TrailingZeros64(s.Bits)) // 64 where it is further back than the bits
	every := (s.VisitedAt - s.FirstAt) / models.Instant(max(s.Records-1, 1))
	s.ChangedAt = max(s.VisitedAt-ago*every, s.FirstAt)
	return s
}

// template reports, once for the host, that a region which its pages share changed on all of them.
func (d *draft) template() {
	if d.out.Template == "" {
		return
	}
	n := len(d.Events)
	d.event(models.EventTemplate)
	for i := range d.Events[n:] {
		e := &d.Events[n+i]
		e.Note, e.Reasons, e.Significance = d.out.Template, models.ReasonTemplate, 0
	}
}

// ledger enters what the visit showed of the host's validators and promises.
func (d *draft) ledger() {
	t := &d.Host.Trials
	for _, f := range d.out.Findings {
		t.Note(f, d.now)
	}
	if verdict, ok := d.ofStale(); ok {
		t.Note(models.Finding{Hint: models.HintStale, Verdict: verdict}, d.now)
	}
	if verdict, ok := d.ofTold(); ok && !d.behind() {
		t.Note(models.Finding{Hint: models.HintSitemap, Verdict: verdict}, d.now)
	}
	if verdict, ok := d.ofAnnounced(); ok && !d.behind() {
		t.Note(models.Finding{Hint: models.HintAnnounced, Verdict: verdict}, d.now)
	}
	if verdict, ok := d.ofNamed(); ok {
		t.Note(models.Finding{Hint: models.HintNamed, Verdict: verdict}, d.now)
	}
	if d.out.Kind.Observed() && (d.before.ETag != "" || d.before.LastModified != "") {
		t.Visited(d.out.Unconditional, d.now)
	}
	switch {
	case d.out.Looked:
		t.Looked(d.now, len(d.out.Links) > 0, d.out.RedirectTo)
	case d.out.Kind == models.Probed:
		t.ProbedAt = models.At(d.now)
	case d.before.Requisite: // what stands in place of an image or of last month's script says nothing of the pages
	case d.out.Kind == models.Failed && d.out.Class.Transient(), d.out.Kind == models.Missing && d.out.Status == 200:
		t.Absent(d.now)
	case d.out.Kind.Unchanged() && isDocument(d.before.ContentType) && !d.out.StandsIn:
		t.Shown(d.now)
	}
}

// isDocument tells whether a page of that media type is likely to come from where the host's contents come from: files beside them may be
// there while all of those are not.
func isDocument(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }
