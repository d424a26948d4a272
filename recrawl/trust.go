package recrawl

import (
	"net/http"
	"strings"
	"time"

	"recrawld/models"
)

// approach is how a page is asked for, as far as the copy that is held goes.
type approach int

const (
	askPlain         approach = iota // no copy, or no validators of it: there is no condition to set
	askConditional                   // with the validators that are trusted: a 304 will do
	askUnconditional                 // for the whole page, although validators are held
	askImpossible                    // on conditions that cannot hold: a server that answers 304 to them is caught lying
)

// auditEvery is how long a host's conditional visits go without an audit at most.
const auditEvery = 30 * 24 * time.Hour

// inquiry is what decides how a page is asked for.
type inquiry struct {
	page   *models.Page
	trials *models.Trials // of its host
	share  float64        // of conditional visits that are audits, 0–1
	full   bool           // the whole page is wanted in any case
	now    time.Time
}

// approach sends the conditions that can be believed. Now and then it audits instead, and asks for the whole page: by
// lot, and where no audit was made for auditEvery (overdue). What an audit finds says which validators are worth being
// sent. Where 304s are in doubt (an audit found a change that the server most likely kept to itself), or by lot where
// they are not believed any more, it sets conditions that cannot hold: an honest server's answer to these is the page.
func (q inquiry) approach() (how approach, overdue bool) {
	held := !q.page.Digest.IsZero() && (q.page.ETag != "" || q.page.LastModified != "")
	etag, lastModified := q.believed()
	switch {
	case !held:
		return askPlain, false
	case q.full:
		return askUnconditional, false
	case !q.trials.Trusts(models.HintNotModified) && q.drawn(), q.inDoubt():
		return askImpossible, false
	case !q.trials.Trusts(models.HintNotModified), etag == "" && lastModified == "", q.drawn():
		return askUnconditional, false
	}
	return askConditional, q.overdue()
}

// believed are the validators to send.
func (q inquiry) believed() (etag, lastModified string) {
	if q.trials.Trusts(models.HintETag) {
		etag = q.page.ETag
	}
	if q.trials.Trusts(models.HintLastModified) {
		lastModified = q.page.LastModified
	}
	return etag, lastModified
}

func (q inquiry) inDoubt() bool {
	trial := &q.trials.By[models.HintNotModified]
	return trial.DistrustedAt == 0 && trial.InARow > 0
}

// drawn tells whether the lot falls on this visit.
func (q inquiry) drawn() bool {
	x := mixed(uint64(q.page.ID) ^ mixed(uint64(q.page.Visits)))
	return float64(x>>11)/(1<<53) < q.share
}

// overdue tells whether the host's conditional visits have gone too long without an audit.
func (q inquiry) overdue() bool {
	last := q.trials.AuditedAt
	if last == 0 {
		last = q.page.Stats.FirstAt
	}
	return q.share > 0 && last != 0 && !q.now.Before(last.Time().Add(auditEvery))
}

// mixed spreads the bits of x (the finaliser of SplitMix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// conditions are the header fields of an approach.
func (q inquiry) conditions(how approach) (ifNoneMatch, ifModifiedSince string) {
	switch how {
	case askConditional:
		etag, lastModified := q.believed()
		return withoutSuffix(etag), lastModified
	case askImpossible:
		ifNoneMatch = `"recrawld-audit"`
		if at, ok := parseDate(q.page.LastModified); ok && at.After(firstPage) {
			ifModifiedSince = firstPage.Format(http.TimeFormat)
		}
	}
	return ifNoneMatch, ifModifiedSince
}

// firstPage is when the first page of the web was changed last: what is said to be older is not.
var firstPage = time.Date(1990, 11, 13, 15, 17, 0, 0, time.UTC)

// codedTags are what servers add to the entity tag of a page that they compress. Some of them, Apache's among them, do
// not know such a tag when it comes back.
var codedTags = []string{"--gzip", "-gzip", ";gzip", ":gzip"}

// withoutSuffix is a condition on a tag, and on the tag without what compression added to it: both name the same content.
func withoutSuffix(etag string) string {
	inner, quoted := strings.CutSuffix(etag, `"`)
	for _, suffix := range codedTags {
		if plain, ok := strings.CutSuffix(inner, suffix); ok && quoted && len(plain) > 1 {
			return etag + ", " + plain + `"`
		}
	}
	return etag
}

// opaque is what two tags of the same content have in common, and whether the tag is a weak one.
func opaque(etag string) (tag string, weak bool) {
	tag, weak = strings.CutPrefix(etag, "W/")
	if _, plain, ok := strings.Cut(withoutSuffix(tag), `", `); ok {
		tag = plain
	}
	return tag, weak
}
