package recrawl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/robots"
)

// How robots.txt is kept (RFC 9309 sections 2.3 and 2.4, with Google's numbers where it names none).
const (
	robotsHops    = 5                   // redirects followed; one more counts as "there is none"
	robotsHoldMin = time.Hour           // how long an answer holds at least (at most models.RobotsHold), whatever its max-age says: asking costs a slot of the host
	robotsGrace   = 30 * 24 * time.Hour // how long the last good answer stands in for one that cannot be had
	robotsRetry   = 10 * time.Minute    // the first wait after a failure; it doubles
	robotsRetryTo = 12 * time.Hour
)

// robotsOf is the row of an origin, or nil.
func robotsOf(rows []models.Robots, origin string) *models.Robots {
	for i := range rows {
		if rows[i].Origin == origin {
			return &rows[i]
		}
	}
	return nil
}

// robotsDue tells whether robots.txt must be asked for before a page is.
func robotsDue(row *models.Robots, now time.Time) bool {
	return row == nil || row.LeadsTo != "" || !row.ExpiresAt.Time().After(now)
}

// robotsInForce tells whether row says anything: its last try was answered, or an earlier one not too long ago. A 404
// is an answer as well: it says that there are no rules.
func robotsInForce(row *models.Robots, now time.Time) bool {
	return row.Class == models.ClassNone || row.GoodAt != 0 && now.Before(row.GoodAt.Time().Add(robotsGrace))
}

// robotsAnswer is what asking for robots.txt came to.
type robotsAnswer struct {
	status int
	class  models.ErrorClass // why it could not be had
	body   []byte            // for 200
	leads  string            // where to, for a redirect that is followed
	header http.Header
	sent   int
	took   time.Duration
	wire   int64
	head   int64 // bytes, likewise
	detail string
}

// nextRobots is the row after an answer. Whatever a server says with 4xx, but for 429, means that there are no rules;
// whatever else is not a file means that nothing may be asked, unless a good answer is young enough to stand in.
func nextRobots(before models.Robots, got robotsAnswer, now time.Time) models.Robots {
	if got.leads != "" {
		return ledOn(before, got, now)
	}
	row := before
	row.LeadsTo, row.Hops = "", 0
	row.Status, row.Class, row.FetchedAt = int16(got.status), robotsClass(got), models.At(now)
	if row.Class != models.ClassNone {
		row.ExpiresAt = models.At(now.Add(robotsWait(before)))
		if until := RetryAfter(got.header, now, robotsRetryTo); until.After(row.ExpiresAt.Time()) {
			row.ExpiresAt = models.At(until)
		}
		if !robotsInForce(&row, now) {
			row.Body, row.GoodAt, row.CrawlDelay = nil, 0, 0
		}
		return row
	}
	row.Body = nil
	if got.status == http.StatusOK {
		row.Body = firstLines(got.body)
	}
	holds, told := robotsLifetime(got.header, now)
	if !told && before.GoodAt != 0 && before.Class == models.ClassNone && bytes.Equal(before.Body, row.Body) {
		holds = max(holds, min(2*before.ExpiresAt.Time().Sub(before.FetchedAt.Time()), models.RobotsHold))
	}
	row.GoodAt, row.ExpiresAt = row.FetchedAt, models.At(now.Add(holds))
	return row
}

// ledOn is the row after a redirect. When the failures before it were stays known: the wait after the next one is twice as long.
func ledOn(before models.Robots, got robotsAnswer, now time.Time) models.Robots {
	row := before
	row.Status, row.Class = int16(got.status), models.ClassNone
	row.LeadsTo, row.Hops = got.leads, before.Hops+1
	if !failedBefore(before) {
		row.FetchedAt, row.ExpiresAt = models.At(now), models.At(now)
	}
	return row
}

// failedBefore tells whether the last answer to end a try was none, whatever redirects came since.
func failedBefore(row models.Robots) bool {
	return row.FetchedAt != 0 && (row.Class != models.ClassNone || row.LeadsTo != "")
}

func robotsClass(got robotsAnswer) models.ErrorClass {
	switch {
	case got.class != models.ClassNone:
		return got.class
	case got.status == http.StatusTooManyRequests:
		return models.TooManyRequests
	case got.status == http.StatusOK, got.status == http.StatusNoContent, got.status >= 400 && got.status < 500:
		return models.ClassNone
	case got.status >= 500 && got.status < 600:
		return models.ServerError
	}
	return models.UnexpectedStatus
}

// robotsWait is how long to wait after a failure: twice as long as after the failure before.
func robotsWait(before models.Robots) time.Duration {
	if !failedBefore(before) {
		return robotsRetry
	}
	last := before.ExpiresAt.Time().Sub(before.FetchedAt.Time())
	return max(robotsRetry, min(2*last, robotsRetryTo))
}

// robotsLifetime is a day, or less where the server says so. told is false where it says of no time that the file holds for, as hosts do of all
// that lies on them (max-age=0, must-revalidate): then it holds twice as long each time that it was the same, up to what RFC 9309 allows.
func robotsLifetime(header http.Header, now time.Time) (holds time.Duration, told bool) {
	if _, said, revalidate := cacheControl(header); !said && !revalidate {
		return models.RobotsHold, true
	}
	until := freshUntil(header, now, models.RobotsHold)
	if until.IsZero() {
		return robotsHoldMin, false
	}
	return max(until.Sub(now), robotsHoldMin), true
}

// firstLines is the part of a robots.txt that counts. A line that is cut is dropped, lest "Disallow: /private" become
// "Disallow: /".
func firstLines(body []byte) []byte {
	if len(body) <= robots.MaxBytes {
		return body
	}
	body = body[:robots.MaxBytes]
	return bytes.Clone(body[:bytes.LastIndexAny(body, "\r\n")+1])
}

// askRobots makes one request for a robots.txt: where the last one was redirected, for what that leads to. The only error is
// that it was not made.
func (s *visit) askRobots(ctx context.Context, before *models.Robots) (robotsAnswer, error) {
	target, err := canon.Parse(cmp.Or(before.LeadsTo, before.Origin+"/robots.txt"))
	if err != nil {
		return robotsAnswer{class: models.HTTPProtocol, detail: err.Error()}, nil
	}
	if blocked := s.guard.checkLiteral(target); blocked != nil {
		return robotsAnswer{class: models.BlockedAddress, detail: blocked.Error()}, nil
	}
	a, err := s.fetcher.do(ctx, exchange{
		url: target, header: s.headers(target, s.asks.robots), secret: s.secrets(), time: s.limits.RobotsTime, headerBytes: s.settings.HeaderBytes,
		caps: bodyCaps{wire: 4 * robots.MaxBytes, decoded: robots.MaxBytes + 1, truncate: true,
			ratio: s.limits.Ratio, ratioFrom: s.limits.RatioFrom},
	})
	got := robotsAnswer{status: a.Status, header: a.Header, body: a.Body, wire: a.WireBytes, head: a.HeadBytes, took: a.Took, sent: 1 + a.Again}
	var failed *fetchError
	switch {
	case errors.As(err, &failed):
		got.class, got.detail = failed.class(), failed.Error()
	case err != nil:
		return got, err
	case isRedirect(a.Status):
		s.leads(&got, target, before.Hops)
	}
	return got, nil
}

// leads says where a redirected robots.txt leads. It is asked for by the next visit: the host has a delay to be left alone before.
func (s *visit) leads(got *robotsAnswer, from canon.URL, hops int16) {
	next, bad := location(from, got.header)
	if bad == nil {
		bad = s.mayLead(next)
	}
	switch {
	case bad != nil:
		got.class, got.detail = bad.class, bad.Error()
	case hops >= robotsHops:
		got.status, got.detail = http.StatusNotFound, "robots.txt redirects too often, so there is none"
	default:
		got.leads, got.detail = next.String(), "robots.txt redirects to "+next.String()
	}
}

func (s *visit) mayLead(next canon.URL) *classedError {
	if err := s.guard.checkLiteral(next); err != nil {
		return &classedError{models.BlockedAddress, err}
	}
	if length := len(next.String()); length > s.settings.URLLength {
		return &classedError{models.RedirectBad, fmt.Errorf("robots.txt redirects to a URL of %d bytes", length)}
	}
	return nil
}
