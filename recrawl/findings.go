package recrawl

import (
	"time"

	"recrawld/models"
)

// evidence is an answer with status 200 beside the copy that was held.
type evidence struct {
	page               *models.Page // as it was
	how                approach
	kind               models.OutcomeKind // what became of the content
	etag, lastModified string             // of the answer
	date               time.Time          // the server's; else ours
	now                time.Time
}

// findings are what the answer shows of the server's promises: at most one of each.
func (e *evidence) findings() []models.Finding {
	if e.page.Digest.IsZero() || !e.kind.OtherBytes() && e.kind != models.SameBytes {
		return nil
	}
	var found []models.Finding
	note := func(hint models.Hint, verdict models.Verdict, ok bool) {
		if ok {
			found = append(found, models.Finding{Hint: hint, Verdict: verdict})
		}
	}
	verdict, ok := e.ofETag()
	note(models.HintETag, verdict, ok)
	verdict, ok = e.ofLastModified()
	note(models.HintLastModified, verdict, ok)
	verdict, ok = e.ofExpires()
	note(models.HintExpires, verdict, ok)
	verdict, ok = e.ofNotModified()
	note(models.HintNotModified, verdict, ok)
	return found
}

// ofETag compares the tag that was held with the answer's. The same tag over a change of the content is a miss. The same
// strong tag over other bytes that mean nothing broke its promise too (RFC 9110 section 8.8.1), and yet no change was
// lost by it; a weak one promised no more.
func (e *evidence) ofETag() (verdict models.Verdict, ok bool) {
	if e.page.ETag == "" || e.etag == "" {
		return 0, false
	}
	before, weakBefore := opaque(e.page.ETag)
	after, weakAfter := opaque(e.etag)
	same, strong := before == after, !weakBefore && !weakAfter
	switch {
	case same && e.kind == models.Changed:
		return models.HintMiss, true
	case same && strong && e.kind != models.SameBytes:
		return models.HintLate, true
	case !same && e.kind == models.SameBytes:
		return models.HintFalseAlarm, true
	}
	return models.HintHit, true
}

// clockSlack is how far a server's clock may be ahead of the clock that its Last-Modified is held against.
const clockSlack = time.Hour

// ofLastModified compares the dates. One that lies in the future, before the web, or before that of the copy although
// the bytes are others, is none of a change. What is no date at all is compared as a word.
func (e *evidence) ofLastModified() (verdict models.Verdict, ok bool) {
	if e.page.LastModified == "" || e.lastModified == "" {
		return 0, false
	}
	same := e.page.LastModified == e.lastModified
	after, dated := parseDate(e.lastModified)
	before, datedBefore := parseDate(e.page.LastModified)
	switch {
	case same && e.kind == models.Changed:
		return models.HintMiss, true
	case !same && e.kind == models.SameBytes:
		return models.HintFalseAlarm, true
	case dated && (after.After(e.date.Add(clockSlack)) || after.Before(firstPage)),
		dated && datedBefore && after.Before(before):
		return models.HintLate, true
	}
	return models.HintHit, true
}

// ofExpires holds what the copy's answer promised against what is so. A change that is found after the promise had run out
// may have come before or after that moment: it breaks the promise where its own date says so, and shows nothing else.
func (e *evidence) ofExpires() (verdict models.Verdict, ok bool) {
	until := e.page.FreshUntil
	switch {
	case until == 0:
		return 0, false
	case e.kind != models.Changed:
		return models.HintHit, true
	}
	changed, dated := parseDate(e.lastModified)
	dated = dated && changed.After(e.page.Stats.VisitedAt.Time()) && changed.Before(until.Time())
	return models.HintLate, dated || e.now.Before(until.Time())
}

// doubtful is how many times as long as since the last 304 a page must have gone unseen for a change to be held against
// the 304s: it came most likely before the last of them.
const doubtful = 4

// ofNotModified: a server that sends a changed page in place of a 304, or any page where the condition could not hold,
// can tell. An audit after a 304 shows whether it was true; where the page has changed it casts doubt on it, for the
// change may have come since, and where the answer's own date says so there is none.
func (e *evidence) ofNotModified() (verdict models.Verdict, ok bool) {
	switch e.how {
	case askImpossible:
		return models.HintHit, true
	case askConditional:
		return models.HintHit, e.kind == models.Changed
	}
	whole := max(e.page.FullAt, e.page.BytesAt, e.page.Stats.FirstAt) // when it was last seen, and not only heard of
	last := e.page.Stats.VisitedAt
	switch {
	case e.how != askUnconditional || whole == 0 || whole >= last:
		return 0, false
	case e.kind != models.Changed, e.dated(last.Time()):
		return models.HintHit, true
	}
	unseen, since := e.now.Sub(whole.Time()), e.now.Sub(last.Time())
	return models.HintLate, unseen >= doubtful*since
}

// dated tells whether the answer names a time of its change that lies after since and is not just that of the answer, as
// servers write that make each page anew.
func (e *evidence) dated(since time.Time) bool {
	changed, ok := parseDate(e.lastModified)
	return ok && changed.After(since) && changed.Before(e.date.Add(-builtNow))
}

// modifiedAt is when the answer says that its content last changed, by our clock; the zero time where it does not say, or
// names a time that cannot be one of a change.
func (e *evidence) modifiedAt() time.Time {
	changed, _ := parseDate(e.lastModified)
	if !e.dated(firstPage) {
		return time.Time{}
	}
	at := e.now.Add(changed.Sub(e.date))
	if at.Before(firstPage) { // the server's clock is far off
		return time.Time{}
	}
	return at
}

// builtNow is how long before an answer its Last-Modified lies at least where that says more than when it was made.
const builtNow = 5 * time.Second
