package models

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// Hint is a promise of a server about its pages that can prove false.
type Hint int

// The hints.
const (
	HintETag         Hint = iota // the same entity tag means the same content, another one another content
	HintLastModified             // likewise
	HintExpires                  // the page is current until then
	HintNotModified              // a 304 means the same content
	HintSitemap                  // a page that a sitemap or feed of the host says to have changed has
	HintAnnounced                // a page whose publisher says that it changed has
	HintStale                    // what a cache has kept too long it fetches anew once it was asked for
	HintNamed                    // a page that was gone is there again when something names it that did not before
	hints
)

var hintWords = []string{"etag", "last-modified", "expires", "not-modified", "sitemap", "indexnow", "stale", "named"}

// String is the hint's word.
func (h Hint) String() string { return word(hintWords, int(h)) }

// Verdict is what a visit showed of a hint.
type Verdict int

// The verdicts.
const (
	HintHit        Verdict = iota // it said what was so
	HintMiss                      // it said unchanged where the content had changed
	HintFalseAlarm                // it said changed where the bytes were the same
	HintLate                      // it promised what did not hold as long, or named a time of change that cannot be
)

// Finding is what one visit showed of one hint.
type Finding struct {
	Hint    Hint
	Verdict Verdict
}

// Trial is the ledger of one hint. Its counts fade: when there are mostFindings in all, each is halved, so that what they say of
// one another is of the last tens of thousands of findings, however many there were.
type Trial struct {
	Hits, Misses, FalseAlarms, Late uint16
	InARow                          uint16  // trusted: false alarms and late ones since the last hit; else: hits since the last other finding
	Since                           Instant // the first finding since it was last trusted anew; 0: none
	DistrustedAt                    Instant // when it was last found lying; 0: it is trusted
}

// mostFindings is how many findings a ledger counts before all of its counts are halved. It is more than any list has entries, as a
// list is believed in some times as many pages as it was right about.
const mostFindings = 1<<16 - 1

// Trials is what a host's hints proved to be worth. The zero Trials trust everything.
type Trials struct {
	By        [hints]Trial // by Hint
	AuditedAt Instant      // the last visit without conditions to a page whose validators are held; 0: none
	Visits    uint32       // conditional visits since then
	ProbedAt  Instant      // when a name that does not exist was last asked for; 0: never
	Load      Load         // how the host bears our requests, which every visit tries
	Losses    Losses       // its pages that are lost

	// SitemapAt is when /sitemap.xml was last looked for, which its robots.txt did not name; 0: never. SitemapFound says that it was there,
	// and is a page since then, unless pages of the host were removed. SitemapTo is where its answer led, which is to be asked next, by SitemapHops
	// redirects; "": nowhere.
	SitemapAt    Instant
	SitemapFound bool
	SitemapTo    string // canonical, of the same origin
	SitemapHops  uint8

	// AbsentAt is when a page of the host last answered 200 without its content; 0: never, or so long ago that it says nothing any
	// more. ShownAt is when a page of it last showed the content that it had, kept only while AbsentAt is: whether the host as a whole
	// stands while some of its pages do not.
	AbsentAt, ShownAt Instant
}

// A hint is no longer trusted after one miss, because a change was lost by it, or after so many false alarms or late
// ones without a hit in between, because then nothing is gained by it. It is trusted anew after so many hits without
// another finding in between, which only visits that do not rely on it can bring. That a sitemap or a publisher says nothing of a
// change promises nothing, so their misses are counted and cost no trust.
const (
	trustLostAfter = 3
	trustWonByHits = 5
)

// lostAfter is how many false alarms in a row cost a hint its trust: of HintStale more, since of two caches that take turns each is asked
// again in half of the cases alone, and that is worth it.
func (h Hint) lostAfter() uint16 {
	if h == HintStale {
		return 10
	}
	return trustLostAfter
}

// Note enters a finding into the ledger, and moves the hint in or out of trust. When it is trusted anew its ledger
// begins anew, with the hits that it was trusted for. Unknown hints and verdicts are left out.
func (t *Trials) Note(f Finding, now time.Time) {
	if f.Hint < 0 || f.Hint >= hints {
		return
	}
	tr := &t.By[f.Hint]
	count := tr.count(f.Verdict)
	if count == nil {
		return
	}
	if tr.sum() >= mostFindings {
		for _, n := range []*uint16{&tr.Hits, &tr.Misses, &tr.FalseAlarms, &tr.Late} {
			*n -= *n / 2 // of one, one is left
		}
	}
	*count++
	if tr.Since == 0 {
		tr.Since = At(now)
	}
	if f.Hint >= HintSitemap && f.Verdict == HintMiss {
		return
	}
	wins, trusted := f.Verdict == HintHit, tr.DistrustedAt == 0
	tr.InARow = min(tr.InARow, math.MaxUint16-1) + 1
	if wins == trusted { // one more of those for which it is trusted, or is not
		tr.InARow = 0
	}
	switch {
	case !wins && (!trusted || f.Verdict == HintMiss || tr.InARow >= f.Hint.lostAfter()):
		tr.DistrustedAt, tr.InARow = At(now), 0
	case wins && !trusted && tr.InARow >= trustWonByHits:
		*tr = Trial{Hits: tr.InARow, Since: At(now)}
	}
}

// sum is how many findings are counted.
func (t *Trial) sum() int { return int(t.Hits) + int(t.Misses) + int(t.FalseAlarms) + int(t.Late) }

// count is the count of a verdict, nil for an unknown one.
func (t *Trial) count(v Verdict) *uint16 {
	switch v {
	case HintHit:
		return &t.Hits
	case HintMiss:
		return &t.Misses
	case HintFalseAlarm:
		return &t.FalseAlarms
	case HintLate:
		return &t.Late
	}
	return nil
}

// Trusts tells whether a hint may be relied on.
func (t *Trials) Trusts(h Hint) bool { return t.By[h].DistrustedAt == 0 }

// Sound tells whether a hint was right often enough to say so, and at least twice as often as it raised a false alarm: chance
// alone makes three of these in a row, so it need not lie where it is not trusted for them.
func (t *Trial) Sound() bool { return t.Hits >= trustWonByHits && int(t.Hits) >= 2*int(t.FalseAlarms) }

// Believed tells whether a hint is relied on: trusted, and right often enough.
func (t *Trial) Believed() bool { return t.DistrustedAt == 0 && t.Sound() }

// Doubted tells whether it is not even tried: found lying, and not right often enough for that to have been chance.
func (t *Trial) Doubted() bool { return t.DistrustedAt != 0 && !t.Sound() }

// Visited counts a visit to a page whose validators are held: one without conditions is an audit, the others are what the
// share of audits is of.
func (t *Trials) Visited(unconditional bool, now time.Time) {
	if unconditional {
		t.AuditedAt, t.Visits = At(now), 0
		return
	}
	t.Visits = min(t.Visits, math.MaxUint32-1) + 1
}

// IsZero tells whether nothing is known.
func (t *Trials) IsZero() bool { return *t == Trials{} }

// Hinted tells whether anything is known of the hints.
func (t *Trials) Hinted() bool {
	return *t != Trials{Load: t.Load, Losses: t.Losses, AbsentAt: t.AbsentAt, ShownAt: t.ShownAt, SitemapAt: t.SitemapAt, SitemapFound: t.SitemapFound,
		SitemapTo: t.SitemapTo, SitemapHops: t.SitemapHops}
}

// absentKept is how long AbsentAt is kept after a page last answered without its content.
const absentKept = 60 * 24 * time.Hour

// Absent notes that a page answered 200 without its content.
func (t *Trials) Absent(now time.Time) { t.AbsentAt = At(now) }

// Shown notes that a page showed the content that it had, where that is of use. It forgets what is long ago.
func (t *Trials) Shown(now time.Time) {
	switch {
	case t.AbsentAt == 0:
	case now.Sub(t.AbsentAt.Time()) > absentKept:
		t.AbsentAt, t.ShownAt = 0, 0
	default:
		t.ShownAt = At(now)
	}
}

// The first byte of stored Trials: with trialsForm the hints follow, with trialsLoad the load comes first, and the hints
// only where something is known of them. With trialsLosses the losses come before that, a first byte and all, and so do AbsentAt and ShownAt
// with trialsAbsent before those. With trialsSeen in place of trialsLosses the losses end with Losses.SeenAt, and with trialsTurns with what follows that. Before
// all of them SitemapAt comes with trialsNotListed, or with trialsListed where it was found, or with trialsLed where its answer led on: then by
// how many redirects, and where to, as a length and so many bytes.
const (
	trialsForm      = 1
	trialsLoad      = 2
	trialsLosses    = 3
	trialsAbsent    = 4
	trialsSeen      = 5
	trialsNotListed = 6
	trialsListed    = 7
	trialsLed       = 8
	trialsTurns     = 9
)

// hintsBefore is how many hints stored Trials had at first. Of those that came later none is written behind which nothing is
// known of any.
const hintsBefore = 4

// Value implements driver.Valuer: some forty bytes, or five where only the load is known, NULL where nothing is; some thirteen
// more where pages answered without their content, and seven where a sitemap was looked for.
func (t *Trials) Value() (driver.Value, error) {
	if t.IsZero() {
		return nil, nil
	}
	b := make([]byte, 0, 64)
	b = t.appendSitemap(b)
	if t.AbsentAt != 0 || t.ShownAt != 0 {
		b = binary.AppendUvarint(binary.AppendUvarint(append(b, trialsAbsent), uint64(t.AbsentAt)), uint64(t.ShownAt))
	}
	if t.Losses != (Losses{}) {
		b = t.Losses.append(b)
	}
	if t.Load == (Load{}) {
		b = append(b, trialsForm)
	} else {
		b = t.Load.append(append(b, trialsLoad))
		if !t.Hinted() {
			return b, nil
		}
	}
	for _, v := range []uint64{uint64(t.AuditedAt), uint64(t.Visits), uint64(t.ProbedAt)} {
		b = binary.AppendUvarint(b, v)
	}
	known := hints
	for known > hintsBefore && t.By[known-1] == (Trial{}) {
		known--
	}
	for _, tr := range t.By[:known] {
		for _, v := range []uint16{tr.Hits, tr.Misses, tr.FalseAlarms, tr.Late, tr.InARow} {
			b = binary.AppendUvarint(b, uint64(v))
		}
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(tr.Since)), uint64(tr.DistrustedAt))
	}
	return b, nil
}

// Scan implements sql.Scanner. What is damaged, or of a form that is not known, reads as nothing: it is learned anew, and
// the host's visits go on.
func (t *Trials) Scan(src any) error {
	*t = Trials{}
	b, ok := src.([]byte)
	if src != nil && !ok {
		return fmt.Errorf("trials from %T", src)
	}
	if len(b) == 0 || b[0] < trialsForm || b[0] > trialsTurns {
		return nil
	}
	n := numbers{rest: b}
	form := n.next(trialsTurns)
	var read Trials
	if form >= trialsNotListed && form <= trialsLed {
		read.SitemapAt, read.SitemapFound = n.instant(), form == trialsListed
		if form == trialsLed {
			read.SitemapHops, read.SitemapTo = n.octet(), n.text()
		}
		form = n.next(trialsTurns)
	}
	if form == trialsAbsent {
		read.AbsentAt, read.ShownAt = n.instant(), n.instant()
		form = n.next(trialsTurns)
	}
	if form == trialsLosses || form == trialsSeen || form == trialsTurns {
		read.Losses = n.losses(form)
		form = n.next(trialsLoad)
	}
	if form == trialsLoad {
		if read.Load = n.load(); len(n.rest) == 0 && !n.bad {
			*t = read
			return nil
		}
	}
	read.AuditedAt, read.Visits, read.ProbedAt = n.instant(), uint32(n.next(math.MaxUint32)), n.instant()
	for i := range read.By {
		if i >= hintsBefore && len(n.rest) == 0 {
			break
		}
		read.By[i] = Trial{Hits: n.count(), Misses: n.count(), FalseAlarms: n.count(), Late: n.count(), InARow: n.count(),
			Since: n.instant(), DistrustedAt: n.instant()}
	}
	if !n.bad && len(n.rest) == 0 {
		*t = read
	}
	return nil
}

// numbers reads unsigned varints.
type numbers struct {
	rest []byte
	bad  bool // one was missing or too large
}

func (n *numbers) next(most uint64) uint64 {
	v, size := binary.Uvarint(n.rest)
	if size <= 0 || v > most {
		n.bad = true
		return 0
	}
	n.rest = n.rest[size:]
	return v
}

func (n *numbers) instant() Instant { return Instant(n.next(math.MaxUint64)) }
func (n *numbers) count() uint16    { return uint16(n.next(math.MaxUint16)) }
