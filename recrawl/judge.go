package recrawl

import (
	"context"
	"fmt"
	"hash/crc32"
	"net/http"
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/extract"
	"recrawld/recrawl/sitemap"
)

// record copies what an answer is by itself, whatever it means.
func (s *visit) record(a *answer) {
	s.out.Took, s.out.Status, s.out.Proto, s.out.RemoteIP = a.Took, a.Status, a.Proto, a.RemoteIP
	s.out.Request, s.out.WireBytes, s.out.HeadBytes = a.Request, a.WireBytes, a.HeadBytes
	if a.Status == http.StatusOK { // nothing else is archived
		s.out.Header = archiveHead(a)
	}
}

// judge says what a whole answer means, by its status (RFC 9110 section 15).
func (s *visit) judge(ctx context.Context, a *answer) {
	now := s.clock.Now()
	s.out.RetryAfter = s.retryAfter(a.Status, a.Header, now)
	switch status := a.Status; {
	case status == http.StatusOK:
		s.whole(ctx, a, now)
	case status == http.StatusNotModified:
		s.notModified(ctx, a, now)
	case isRedirect(status):
		s.moved(a, now)
	case status == http.StatusNotFound:
		s.out.Kind = models.Missing
	case status == http.StatusGone:
		s.out.Kind = models.Gone
	default:
		detail := fmt.Sprintf("%d %s", status, http.StatusText(status))
		if status == http.StatusUnauthorized {
			detail += ": it wants a log-in, which headers: of its site may bring"
		}
		s.fail(statusClass(status), detail)
	}
}

func statusClass(status int) models.ErrorClass {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired,
		status == http.StatusUnavailableForLegalReasons:
		return models.Refused
	case status == http.StatusTooManyRequests:
		return models.TooManyRequests
	case status >= 500 && status < 600:
		return models.ServerError
	}
	return models.UnexpectedStatus
}

// retryAfter is heard from a server that has too much to do. With other statuses Retry-After means something else.
func (s *visit) retryAfter(status int, header http.Header, now time.Time) time.Time {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return time.Time{}
	}
	return RetryAfter(header, now, s.settings.RetryMax)
}

// notModified believes a 304 only where a condition was sent that can hold.
func (s *visit) notModified(ctx context.Context, a *answer, now time.Time) {
	switch s.how {
	case askPlain, askUnconditional:
		s.fail(models.BadNotModified, "304 to a request without a condition")
		return
	case askImpossible:
		s.out.Findings = []models.Finding{{Hint: models.HintNotModified, Verdict: models.HintMiss}}
		s.fail(models.BadNotModified, "304 to a condition that cannot hold: this host's 304s are not believed any more")
		return
	}
	s.out.Kind = models.NotModified
	s.out.ETag, s.out.LastModified = refreshed(s.page, a.Header)
	s.out.FreshUntil = freshUntil(a.Header, now, s.settings.HintMax)
	s.out.CacheAge, s.out.Stale = staleness(a.Header, now)
	s.withdraw(ctx)
	s.witness(ctx, nil, "")
	s.tellFamily(ctx)
	s.tellPlain(ctx)
	s.learn(false)
}

// moved reports where the page leads; the target is the only link, if it may be visited; that of a requisite is one.
func (s *visit) moved(a *answer, now time.Time) {
	target, bad := redirectTarget(s.guard, s.page, s.url, a.Header)
	if bad != nil {
		s.fail(bad.class, bad.Error())
		if bad.class == models.RedirectLoop {
			s.out.RedirectTo = target.String()
		}
		return
	}
	if s.page.Version > 0 && !lasting(a.Status) && content.WantsLogin(s.url, target) {
		// That is no place where it has moved to, from the first page on that does so: a log-in has expired. One that says it has moved for good
		// has, and of a page that showed nothing yet it is all that is known.
		s.fail(models.LoginWall, fmt.Sprintf("%d to %s%s: it wants a log-in, which headers: of its site may bring; the last good version stays",
			a.Status, target.Origin(), target.Path()))
		return
	}
	s.movedTo(target, a, now)
	s.out.Permanent = lasting(a.Status)
}

// lasting tells whether a redirect says that the page has moved for good.
func lasting(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
}

func (s *visit) movedTo(target canon.URL, a *answer, now time.Time) {
	s.out.Kind, s.out.RedirectTo = models.Moved, target.String()
	s.out.FreshUntil = freshUntil(a.Header, now, s.settings.HintMax)
	if s.known(target).Keep && s.mayAsk(s.rules.of(s.robots), target) {
		s.out.Links = []models.FoundLink{{URL: target.String(), Host: target.HostName(), List: s.isList()}}
	}
}

// refreshText is the length in bytes of the longest text of a page that is there to lead elsewhere: "Redirecting, click here if nothing happens".
const refreshText = 500

// refreshes makes a redirect of a page that says next to nothing and leads elsewhere at once, which is how whoever only writes files says that a
// page has another name; search engines read it so too. One that leads where no redirect may is a page like others. Where there is a copy that
// says something it may stand in its place for a while, as for all of a site that is being deployed: then it is doubted as such pages are, and a
// redirect only once it has been taken for what the page says. One that names what it leads to as its canonical URL, as Hugo, Jekyll, MkDocs and
// Docusaurus do, is there for nothing else.
func (s *visit) refreshes(found *extract.Extraction) bool {
	r, p := &found.Refresh, s.page
	if r.URL.IsZero() || r.Delay != 0 || found.TextBytes > refreshText || mayLead(s.guard, p, s.url, r.URL) != nil {
		return false
	}
	s.leadsTo = r.URL
	return found.Canonical == r.URL || p.Version == 0 || p.RedirectTo == r.URL.String() || p.Digest == s.out.Digest ||
		!p.TextDigest.IsZero() && p.TextDigest == found.TextDigest
}

// led makes a redirect of what the visit has found; nothing of it is archived, as of any redirect.
func (s *visit) led(bare models.Outcome, a *answer, now time.Time) {
	s.out = bare
	s.out.Header, s.out.Request, s.out.RemoteIP = nil, nil, ""
	s.movedTo(s.leadsTo, a, now)
}

// whole judges a whole 200.
func (s *visit) whole(ctx context.Context, a *answer, now time.Time) {
	if len(a.Body) == 0 && s.page.Bytes > 0 {
		s.fail(models.EmptyBody, "200 without a body where there was content")
		return
	}
	bare := s.out
	s.out.ContentType = mediaType(a.Header)
	s.out.ETag, s.out.LastModified = validators(a.Header)
	s.out.FreshUntil = freshUntil(a.Header, now, s.settings.HintMax)
	s.out.CacheAge, s.out.Stale = staleness(a.Header, now)
	s.out.Digest, s.out.BodySum = models.DigestOf(a.Body), crc32.ChecksumIEEE(a.Body)
	if s.read(ctx, a.Body, a.Header, RobotsTag(a.Header, s.agent.Name, now)) {
		s.led(bare, a, now)
		return
	}
	held := Copy{Digest: s.page.Digest, TextDigest: s.page.TextDigest, LinkPrint: s.page.LinkPrint}
	received := Copy{Digest: s.out.Digest, TextDigest: s.out.TextDigest, LinkPrint: s.out.LinkPrint}
	s.out.Kind = Detect(held, received)
	if s.out.Kind != models.SameBytes || s.page.Lost {
		s.out.Body = a.Body
	}
	list := sitemap.None
	switch s.out.Kind {
	case models.Changed:
		s.out.Reasons = reasonOf(held, received)
		fallthrough
	case models.First:
		list = s.listKind(a.Body)
	}
	switch {
	case list != sitemap.None && s.listed(ctx, list, a.Body, a.Header):
	case s.out.Kind == models.First:
		s.doubt(ctx, a.Body, a.Header)
	case s.out.Kind == models.Changed:
		s.weigh(ctx, a.Body, a.Header)
	default:
		s.withdraw(ctx)
		s.witness(ctx, a.Body, a.Header.Get("Content-Type"))
		s.staysAsItWas(ctx, a.Body, a.Header.Get("Content-Type"))
	}
	if s.out.Kind == models.Changed && !s.leadsTo.IsZero() && s.past != nil { // it was doubted, and is what the page says by now
		s.led(bare, a, now)
		return
	}
	if !s.out.Kind.Observed() {
		return
	}
	s.tellFamily(ctx)
	s.tellPlain(ctx)
	s.out.Hub = s.hubOf(a)
	s.find(a.Header, now)
	s.learn(s.out.Kind == models.Changed)
}

// find says what the answer shows of the host's promises.
func (s *visit) find(header http.Header, now time.Time) {
	e := evidence{page: s.page, how: s.how, kind: s.out.Kind, etag: s.out.ETag, lastModified: s.out.LastModified,
		date: now, now: s.turn.Now}
	if date, ok := parseDate(header.Get("Date")); ok {
		e.date = date
	}
	s.out.Findings = e.findings()
	s.out.ModifiedAt = e.modifiedAt()
}

// learn lets a parent's threshold follow what its turn found.
func (s *visit) learn(changed bool) {
	if s.settings.Parents.Threshold == 0 || s.turn.Page.Share.Known == 0 {
		return
	}
	s.out.Full = s.parent == fullTurn
	s.out.Threshold = nextThreshold(&s.turn.Page, s.settings.Parents, s.parent, changed)
}
