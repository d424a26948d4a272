package recrawl

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/recrawl/pdf"
)

// compareBytes is the length in bytes of the longest body that is compared by its content; of longer ones the bytes
// decide.
const compareBytes = 16 << 20

// weigh says what a body is worth that differs from the copy that is held in its text or in its links. Where nothing can
// be said, because the copy was not kept or the comparison came to nothing, it is a change for the reasons that are
// known already.
func (s *visit) weigh(ctx context.Context, body []byte, header http.Header) {
	s.out.Significance = 1
	file := content.MayBeRemade(body)
	if s.past == nil || !file && !mayHoldText(s.out.ContentType) {
		return
	}
	if s.page.Bytes > compareBytes || len(body) > compareBytes {
		s.out.Reasons = models.ReasonBytes
		return
	}
	held, kind, ok, err := s.past.Body(ctx, s.page)
	switch {
	case err != nil && ctx.Err() != nil:
		s.interrupt(ctx.Err())
		return
	case err != nil:
		s.log.Warn("the copy that is held cannot be read", "page", s.page.URL, "version", s.page.Version, "err", err)
		s.suspect = true // it was not looked for the words of an error, as what comes without a copy is
		s.doubt(ctx, body, header)
		return
	case !ok: // as where the page asks not to be kept
		s.doubt(ctx, body, header)
		return
	case file && s.remade(ctx, held, body):
		return
	}
	memory, read := s.remembered(ctx)
	got, err := s.comparer.compare(ctx, question{
		before: side{held, kind}, after: side{body, header.Get("Content-Type")}, rules: s.content,
		memory: memory, host: s.hostMemory(ctx), threshold: s.settings.Significance, now: s.turn.Now, held: cmp.Or(s.page.BytesAt, s.page.Stats.FirstAt).Time(),
		page: s.page.ID, good: s.page.Failures == 0 && s.page.MissingVisits == 0, due: s.page.DueAt.Time(),
		hostShown: s.turn.Host.Trials.ShownAt.Time(), records: s.page.Stats.Records, url: s.url,
		leadsTo: s.leadsTo.String(), earlier: isEarlier(header.Get("Last-Modified"), s.page.LastModified),
	})
	if err != nil && ctx.Err() != nil {
		s.interrupt(ctx.Err())
		return
	}
	if err != nil {
		s.out.Reasons = models.ReasonBytes
		s.log.Warn("two versions cannot be compared, so their bytes decide", "page", s.page.URL, "bytes", len(body), "err", err)
		return
	}
	if read {
		s.out.Memory = got.page
	}
	s.out.HostMemory, s.out.HostTurn, s.out.StandsIn = got.host, got.turn, got.standsIn
	s.conclude(&got.Verdict)
}

// isEarlier tells whether one date of a header lies before another; what is no date does not.
func isEarlier(one, other string) bool {
	at, ok := parseDate(one)
	held, known := parseDate(other)
	return ok && known && at.Before(held)
}

// remade says what a file is worth: nothing where it holds what the copy does, made at another time. Otherwise it counts, but for a PDF, whose text is
// compared then: false.
func (s *visit) remade(ctx context.Context, held, body []byte) bool {
	same := false
	err := s.comparer.run(ctx, s.url, len(held)+len(body), func(context.Context) error {
		same = content.Remade(held, body)
		return nil
	})
	switch {
	case err != nil && ctx.Err() != nil:
		s.interrupt(ctx.Err())
	case err == nil && same:
		s.conclude(&content.Verdict{Kind: content.Noise, Reasons: models.ReasonDateOnly})
	case err == nil && pdf.Is(body):
		return false
	default:
		s.out.Reasons = models.ReasonBytes
	}
	return true
}

// doubt looks at a body that there is no other to compare with, such as a page's first, where its words are those of an error, or its host is known to
// answer 200 for pages that do not exist, or with something else than their contents. All others cost nothing more.
func (s *visit) doubt(ctx context.Context, body []byte, header http.Header) {
	trials := &s.turn.Host.Trials
	known := trials.ProbedAt != 0 || trials.AbsentAt != 0
	if s.past == nil || !s.suspect && !known || len(body) > compareBytes || !mayHoldText(s.out.ContentType) {
		return
	}
	failed := s.page.Failures > 0 || s.page.MissingVisits > 0
	host := s.hostMemory(ctx)
	if !s.suspect && !failed && !host.replaces() {
		return
	}
	memory, read := []byte(nil), true // a page that is new has none
	if failed || s.page.Version > 0 {
		memory, read = s.remembered(ctx)
	}
	got, err := s.comparer.judgeFirst(ctx, question{after: side{body, header.Get("Content-Type")}, rules: s.content, memory: memory, host: host,
		now: s.turn.Now, page: s.page.ID, good: !failed, due: s.page.DueAt.Time(), hostShown: trials.ShownAt.Time(), url: s.url})
	switch {
	case err != nil && ctx.Err() != nil:
		s.interrupt(ctx.Err())
		return
	case err != nil:
		s.log.Warn("a page without a copy cannot be looked at, so it is taken as it is", "page", s.page.URL, "bytes", len(body), "err", err)
		return
	}
	if read {
		s.out.Memory = got.page
	}
	s.out.HostMemory, s.out.HostTurn = got.host, got.turn
	switch got.Kind {
	case content.SoftMissing:
		s.missing()
	case content.Transient:
		s.absent(&got.Verdict)
	}
}

// witness finds out, where lately pages of the host answered without their contents and none has shown its own since, whether what this page shows as ever
// is what those show: then it does not speak for the host.
func (s *visit) witness(ctx context.Context, body []byte, kind string) {
	trials := &s.turn.Host.Trials
	if s.past == nil || trials.AbsentAt == 0 || trials.ShownAt > trials.AbsentAt || s.page.Bytes > compareBytes || !mayHoldText(s.page.ContentType) {
		return
	}
	host := s.hostMemory(ctx)
	if !host.standIns() {
		return
	}
	if body == nil {
		held, of, ok, err := s.past.Body(ctx, s.page)
		if err != nil || !ok {
			return
		}
		body, kind = held, of
	}
	standsIn := false
	err := s.comparer.run(ctx, s.url, len(body), func(context.Context) error {
		standsIn = host.standsIn(content.Read(body, kind, s.url, s.content), s.page.ID)
		return nil
	})
	s.out.StandsIn = err == nil && standsIn
}

// staysAsItWas tells the host's memory what this page says as ever, where it is not known whether others do that said something else lately: of what went
// from several of them and from no others it is told that it was the host's.
func (s *visit) staysAsItWas(ctx context.Context, body []byte, kind string) {
	if s.past == nil || s.page.Bytes > compareBytes || !mayHoldText(s.page.ContentType) || !s.out.Kind.Observed() {
		return
	}
	host, now := s.hostMemory(ctx), s.turn.Now.Unix()
	if !host.awaits(now) {
		return
	}
	var memory []byte
	var turn int64
	err := s.comparer.run(ctx, s.url, len(body), func(context.Context) error {
		memory, turn = host.stays(content.Read(body, kind, s.url, s.content), s.page.ID, now)
		return nil
	})
	if err == nil {
		s.noted(memory, turn)
	}
}

// withdraw finds out, where the last visit reported a change and this one saw none, whether what other pages of the host
// showed since then made noise of that change; and it tells the host's memory of a page that is well again.
func (s *visit) withdraw(ctx context.Context) {
	reported := s.page.Stats.Bits&1 == 1 && !s.everyChange()
	absent := s.page.Class.Transient() || s.page.MissingVisits > 0 ||
		s.turn.Host.Trials.AbsentAt != 0 && (s.page.Failures > 0 || s.page.RedirectTo != "") // what it showed before it failed otherwise is noted still
	if s.past == nil || !reported && !absent {
		return
	}
	s.out.HostMemory, s.out.HostTurn = s.hostMemory(ctx).change(func(host *content.HostMemory, _ *content.Orders) {
		s.out.Retract = reported && host.Withdraw(s.page.ID)
		if absent {
			host.Shown(s.page.ID, s.turn.Now)
		}
	})
}

// missing ends a visit that found what the host shows for pages that do not exist.
func (s *visit) missing() {
	s.discard()
	s.out.Kind, s.out.Detail = models.Missing, "answers 200 with what the host shows for pages that do not exist"
}

// absent ends a visit that found something else than the page's content: it says since when and what is waited for.
func (s *visit) absent(v *content.Verdict) {
	s.discard()
	words := transientWords[v.Class] + ", since " + moment(v.Since)
	if v.Others > 0 {
		words += fmt.Sprintf(", as on %s of its host", plural(v.Others, "other page"))
	}
	if s.page.Version > 0 && !s.page.Lost {
		words += "; the last good version stays"
	} else {
		words += "; it is not taken for the page yet"
	}
	switch {
	case v.Until.IsZero():
		words += ", however long that lasts"
	case v.Becomes == content.SoftMissing:
		words += "; from " + moment(v.Until) + " on it counts as not found"
	case v.Until.After(s.turn.Now):
		words += "; if it stays it is the page from " + moment(v.Until) + " on"
	default:
		words += "; seen once more it is the page"
	}
	s.fail(v.Class, words)
	s.out.Until = v.Until
}

// moment is a time for a person.
func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04") + " UTC" }

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// interrupt ends a visit that there is no time to judge: what it found is found again.
func (s *visit) interrupt(err error) {
	s.discard()
	s.out.Kind, s.out.Detail = models.Interrupted, err.Error()
}

// mayHoldText tells whether there may be text to compare in a body of a media type.
func mayHoldText(media string) bool {
	family, _, _ := strings.Cut(media, "/")
	switch family {
	case "image", "audio", "video", "font":
		return strings.HasSuffix(media, "+xml")
	}
	switch media {
	case "application/pdf", "application/zip", "application/gzip", "application/octet-stream", "application/wasm":
		return false
	}
	return true
}

// remembered is the page's memory; what cannot be read (false) counts as nothing, and is not to be replaced.
func (s *visit) remembered(ctx context.Context) (memory []byte, read bool) {
	memory, err := s.past.Memory(ctx, s.page.Bucket, s.page.HostID, s.page.ID)
	if err != nil {
		s.log.Warn("what is remembered of a page cannot be read", "page", s.page.URL, "err", err)
	}
	return memory, err == nil
}

// hostMemory is the host's, read once a lease.
func (s *visit) hostMemory(ctx context.Context) *hostMemory {
	host := s.hosts.of(&s.turn.Host)
	if err := host.load(ctx, s.past); err != nil {
		s.log.Warn("what is remembered of a host cannot be read", "host", s.turn.Host.Name, "err", err)
	}
	return host
}

// everyChange tells whether every change of the text or of a link counts, whatever the comparison makes of it.
func (s *visit) everyChange() bool { return s.settings.Significance == 0 }

// conclude takes over a verdict.
func (s *visit) conclude(v *content.Verdict) {
	s.out.Retract, s.out.Template = v.Retract && !s.everyChange(), clean(v.Template, maxDetail)
	if s.everyChange() && (v.Kind == content.Noise || v.Kind == content.Same) {
		v.Kind = content.Change
	}
	switch {
	case s.replaced(v):
		s.missing()
		s.out.Detail = "answers 200 with a page in its place"
		return
	case v.Kind == content.Transient:
		s.absent(v)
		return
	case v.Kind == content.SoftMissing:
		s.missing()
		return
	}
	switch v.Kind {
	case content.Change:
		s.out.Kind = models.Changed
	case content.Noise:
		s.out.Kind = models.Noise
	case content.Same:
		s.out.Kind = models.Noise
		if v.Reasons == 0 {
			v.Reasons = models.ReasonMarkupOnly
		}
		if s.out.TextDigest == s.page.TextDigest && !s.page.TextDigest.IsZero() {
			s.out.Kind, v.Reasons = models.SameText, 0
		}
	}
	s.out.Significance, s.out.Reasons = float32(v.Significance), v.Reasons
}

// transientWords say to a person why an answer with status 200 is not taken for the page.
var transientWords = map[models.ErrorClass]string{
	models.ErrorPage: "answers 200 with an error page or another text",
	models.LoginWall: "answers 200 with a log-in form",
	models.BlockPage: "answers 200 with a block page or a challenge",
	models.Shell:     "answers 200 with a page that has no content yet",
	models.OlderCopy: "answers with what it said before, older than the copy by its Last-Modified, as a cache or a server does that is behind others",
}

// discard forgets what an answer said that is not the page's: nothing of it may replace what is known.
func (s *visit) discard() {
	out := &s.out
	out.Body, out.Digest, out.BodySum = nil, models.Digest{}, 0
	out.TextDigest, out.LinkPrint, out.Print = models.Digest{}, 0, models.Print{}
	out.Listing = nil
	out.Links, out.LinksKnown, out.Requisites, out.Canonical, out.Title = nil, false, nil, "", ""
	out.ETag, out.LastModified, out.ContentType = "", "", ""
	out.FreshUntil = time.Time{}
	out.NoIndex, out.NoFollow, out.NoArchive = false, false, false
	out.Significance, out.Reasons = 0, 0
}
