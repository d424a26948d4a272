// Package recrawl makes visits: it asks one server for one page and says what it learned. Asking is its only effect; it
// keeps nothing but connections and compiled robots.txt files, and it decides nothing about when.
//
// A visit has one request to its host at most, because politeness is granted for one: where robots.txt must be asked
// for first, the visit is that (the page's turn comes next), and a redirect, also that of a robots.txt, is reported, not
// followed. Only what a kept connection garbled is asked for once more.
package recrawl

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/robots"
	"recrawld/recrawl/scope"
)

// Config is what a Visitor needs.
type Config struct {
	Agent   config.Agent   // who asks; Name is required
	Version string         // of the product, for the User-Agent; "" sends none
	Network config.Network // what may be dialled

	// Sites gives the settings, the scope and the rules of content that hold now for a site; nil: it has none. It is
	// called once a visit and must be safe for concurrent use.
	Sites func(id int32) (config.Site, *scope.Scope, *content.Rules)

	Past     Past           // what is kept of pages; nil: texts and links are compared by their prints alone
	Clock    clock.Clock    // the daemon's; nil: the machine's
	Log      *slog.Logger   // nil: discards
	Resolver Resolver       // nil: the system's, by Go's own implementation
	Roots    *x509.CertPool // certificate authorities; nil: the system's
	Memory   int64          // bytes of bodies read at once, beyond the first MiB of each; 0: no bound
	Limits   Limits
}

// Visitor makes visits. It implements scheduler.Visitor and is safe for concurrent use.
type Visitor struct {
	agent   config.Agent
	asks    asker
	sites   func(id int32) (config.Site, *scope.Scope, *content.Rules)
	past    Past
	clock   clock.Clock
	log     *slog.Logger
	limits  Limits
	guard   *guard
	fetcher *fetcher
	rules   *rulesCache

	hosts    *hostMemories
	comparer *comparer
	readers  sync.Pool // of *pageReader
}

// New returns a visitor. It refuses a Config without an agent's name or without Sites.
func New(c Config) (*Visitor, error) {
	switch {
	case c.Agent.Name == "":
		return nil, errors.New("new visitor: the agent has no name")
	case c.Sites == nil:
		return nil, errors.New("new visitor: no sites")
	}
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Resolver == nil {
		c.Resolver = &net.Resolver{PreferGo: true}
	}
	limits, g := c.Limits.withDefaults(), newGuard(c.Network)
	g.hints = true
	return &Visitor{
		agent: c.Agent, asks: newAsker(c.Agent, c.Version), sites: c.Sites, past: c.Past, clock: c.Clock, log: c.Log, limits: limits, guard: g,
		fetcher: newFetcher(newDialer(c.Resolver, g, c.Network, limits), limits, c.Roots, c.Memory), rules: newRulesCache(),
		hosts: newHostMemories(), comparer: newComparer(limits.Compare, c.Log),
	}, nil
}

// Close lets go of idle connections. Visits under way go on.
func (v *Visitor) Close() { v.fetcher.close() }

// Connections is how many connections are open, kept ones included.
func (v *Visitor) Connections() int { return int(v.fetcher.dialer.sockets.open.Load()) }

// Visit asks for the page whose turn it is, or for its robots.txt if that must come first, or for nothing if the page
// may not be asked for. The outcome is complete whatever happened; when ctx ends first it is Interrupted.
func (v *Visitor) Visit(ctx context.Context, t models.Turn) models.Outcome {
	site, pages, rules := v.sites(t.Page.SiteID)
	s := &visit{Visitor: v, turn: t, start: site.URL, settings: &site.Settings, scope: pages, content: rules}
	s.page, s.over = &s.turn.Page.Page, func() bool { return ctx.Err() != nil }
	s.out = models.Outcome{At: t.Now}
	s.run(ctx)
	s.out.Detail = clean(s.out.Detail, maxDetail)
	s.out.Delay = s.delay()
	return s.out
}

// maxDetail is the length in bytes of the longest Outcome.Detail.
const maxDetail = 300

// visit is one visit under way.
type visit struct {
	*Visitor
	turn     models.Turn
	page     *models.Page
	start    string // URL of its site
	settings *config.Settings
	scope    *scope.Scope
	content  *content.Rules
	url      canon.URL
	how      approach
	robots   *models.Robots // of the page's origin; nil: not known
	parent   parentTurn
	needed   bool               // the page is outside the scope and kept as a requisite alone: no link of it is followed
	effort   int                // that what the page names has taken so far (mayName)
	over     func() bool        // nobody waits for the visit any more
	cut      bool               // so something that the page names was left out
	leadsTo  canon.URL          // where the page leads at once, of one that says next to nothing
	suspect  bool               // the page has no copy, or its copy is lost, and its text may be that of an error
	lost     map[canon.URL]bool // whether what stands for a link is not there (isLost)
	out      models.Outcome
}

// run walks the stops of a visit; each either ends it or lets it go on.
func (s *visit) run(ctx context.Context) {
	defer s.contain()
	switch {
	case s.outside(), s.logsOut(), s.isPlain(ctx), s.aside(ctx), s.blocked(), s.skipped(), s.askedRobots(ctx), s.forbidden(), s.probed(ctx), s.lookedForSitemap(ctx):
		return
	}
	a, err := s.fetch(ctx)
	s.record(&a)
	var failed *fetchError
	switch {
	case errors.As(err, &failed):
		s.fail(failed.class(), failed.Error())
	case err != nil:
		s.stop(err)
	default:
		s.judge(ctx, &a)
		s.leaveFamily(ctx)
		if s.cut {
			s.out = s.spent()
			s.stop(context.Cause(ctx))
		}
	}
}

// stop ends a visit whose request was not made: the daemon stops, or others are visited at the host's address.
func (s *visit) stop(err error) {
	s.out.Kind, s.out.Detail = models.Interrupted, err.Error()
	var crowded *crowdedError
	if errors.As(err, &crowded) {
		s.out.Kind, s.out.HostWaits = models.Deferred, true
		s.out.Until = s.clock.Now().Add(s.clock.Real(crowded.wait))
		s.out.Sent--
	}
}

// spent is what the visit took, and nothing of what it found.
func (s *visit) spent() models.Outcome {
	return models.Outcome{At: s.out.At, Took: s.out.Took, Sent: s.out.Sent, WireBytes: s.out.WireBytes, HeadBytes: s.out.HeadBytes}
}

// contain turns a bug of ours, such as a parser that panics over some page, into the failure of this visit.
func (s *visit) contain() {
	p := recover()
	if p == nil {
		return
	}
	s.log.Error("visit panicked", "page", s.page.URL, "panic", p, "stack", string(debug.Stack()))
	status := s.out.Status
	s.out = s.spent()
	s.out.Status = status
	s.fail(models.OwnPanic, fmt.Sprint(p))
}

func (s *visit) fail(class models.ErrorClass, detail string) {
	s.out.Kind, s.out.Class, s.out.Detail = models.Failed, class, detail
}

func (s *visit) exclude(detail string) { s.out.Kind, s.out.Detail = models.Excluded, detail }

// outside ends the visit of a page that today's configuration keeps out.
func (s *visit) outside() bool {
	u, err := canon.Parse(s.page.URL)
	if err != nil {
		s.exclude(err.Error())
		return true
	}
	s.url = u
	s.robots = robotsOf(s.turn.Robots, u.Origin())
	verdict := s.known(u)
	s.needed = verdict.Needed
	if !verdict.Keep {
		s.exclude(verdict.Rule)
	}
	return !verdict.Keep
}

// blocked ends the visit of a page whose host is an address that is not dialled.
func (s *visit) blocked() bool {
	err := s.guard.checkLiteral(s.url)
	if err != nil {
		s.fail(models.BlockedAddress, err.Error())
	}
	return err != nil
}

// skipped ends the turn of an unchanged parent too few of whose children changed.
func (s *visit) skipped() bool {
	s.parent = turnOf(&s.turn.Page, s.settings.Parents)
	if s.parent != skippedTurn {
		return false
	}
	s.out.Kind = models.Skipped
	s.out.Detail = fmt.Sprintf("%d of %d children changed", s.turn.Page.Share.Changed, s.turn.Page.Share.Known)
	return true
}

// askedRobots spends the visit on robots.txt where that must be asked for first.
func (s *visit) askedRobots(ctx context.Context) bool {
	if !robotsDue(s.robots, s.turn.Now) {
		return false
	}
	s.out.At = s.clock.Now()
	before := models.Robots{Bucket: s.page.Bucket, HostID: s.page.HostID, Origin: s.url.Origin()}
	if s.robots != nil {
		before = *s.robots
	}
	got, err := s.askRobots(ctx, &before)
	s.out.Took, s.out.Sent, s.out.Detail = got.took, got.sent, got.detail
	s.out.WireBytes, s.out.HeadBytes = got.wire, got.head
	switch {
	case err != nil:
		s.stop(err)
		return true
	case got.class.Ours(), got.class == models.BlockedAddress && got.status == 0 && before.LeadsTo == "":
		s.fail(got.class, got.detail)
		return true
	}
	now := s.clock.Now()
	row := nextRobots(before, got, now)
	whole := row.Class == models.ClassNone && row.LeadsTo == ""
	if whole {
		row.CrawlDelay = s.crawlDelay(robots.Parse(row.Body))
	}
	s.out.Kind, s.out.Status, s.out.Robots = models.RobotsFetched, got.status, &row
	s.out.RetryAfter = s.retryAfter(got.status, got.header, now)
	s.robots = &row
	if whole {
		s.out.Links = s.namedLists()
	}
	return true
}

// forbidden ends the visit of a page that robots.txt keeps out, or whose robots.txt cannot be had.
func (s *visit) forbidden() bool {
	if !robotsInForce(s.robots, s.turn.Now) {
		s.fail(models.RobotsUnreachable, fmt.Sprintf("robots.txt of %s: %s, asked again %s", s.robots.Origin,
			s.robots.Class, s.robots.ExpiresAt))
		return true
	}
	if robotsExempt(s.url) {
		return false
	}
	verdict := s.rules.of(s.robots).Verdict(s.agent.Name, s.url.RequestURI())
	if !verdict.Allowed {
		s.exclude(fmt.Sprintf("robots.txt line %d: %s", verdict.Line, verdict.Text))
	}
	return !verdict.Allowed
}

// fetch makes the request, with conditions where there is a copy to hold against the answer.
func (s *visit) fetch(ctx context.Context) (answer, error) {
	header := s.headers(s.url, s.accepts())
	ask := inquiry{page: s.page, trials: &s.turn.Host.Trials, share: s.settings.Audit, full: s.parent == fullTurn || s.page.Lost || s.returns(), now: s.turn.Now}
	if s.page.Rule == models.RuleManual {
		ask.share = 0 // somebody asks whether it has changed
	}
	how, overdue := ask.approach()
	if overdue && s.hosts.of(&s.turn.Host).claimAudit() {
		how = askUnconditional
	}
	s.how, s.out.Unconditional = how, how == askUnconditional || how == askImpossible
	ifNoneMatch, ifModifiedSince := ask.conditions(how)
	setIf(header, "If-None-Match", ifNoneMatch)
	setIf(header, "If-Modified-Since", ifModifiedSince)
	return s.ask(ctx, s.url, header)
}

// ask makes one request under the limits of the site.
func (s *visit) ask(ctx context.Context, u canon.URL, header http.Header) (answer, error) {
	s.out.At, s.out.Sent = s.clock.Now(), 1
	a, err := s.fetcher.do(ctx, exchange{
		url: u, header: header, secret: s.secrets(), time: s.settings.PageTime, headerBytes: s.settings.HeaderBytes,
		caps: bodyCaps{wire: s.settings.WireBytes, decoded: s.settings.BodyBytes,
			ratio: s.limits.Ratio, ratioFrom: s.limits.RatioFrom},
	})
	s.out.Sent += a.Again
	return a, err
}

func setIf(header http.Header, name, value string) {
	if value != "" && sendable(value) {
		header.Set(name, value)
	}
}

// crawlDelay is the Crawl-delay for our agent, clamped to the site's longest delay.
func (s *visit) crawlDelay(rules *robots.Rules) time.Duration {
	delay, ok := rules.CrawlDelay(s.agent.Name)
	if !ok {
		return 0
	}
	return min(delay, s.settings.DelayMax)
}

// delay is the politeness delay to hold: the site's, or the longer one that robots.txt asks for, up to DelayMax.
func (s *visit) delay() time.Duration {
	if s.robots == nil {
		return s.settings.Delay
	}
	return max(s.settings.Delay, min(s.robots.CrawlDelay, s.settings.DelayMax))
}
