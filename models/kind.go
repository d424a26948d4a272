package models

// The closed sets of the daemon: typed constants, small integers in the database, words on the screen.

// PageState says what is known of a page.
type PageState int16

// The states of a page.
const (
	StateNew      PageState = iota + 1 // known, no good copy yet
	StateLive                          // has a good copy
	StateMoved                         // answers with a redirect; RedirectTo says where
	StateMissing                       // answered 404, not yet often and long enough to be called gone
	StateGone                          // 410, or 404 confirmed; its last good copy is kept
	StateExcluded                      // robots, a filter or the scope forbids it; Note says which
)

var pageStates = []string{"", "new", "live", "moved", "missing", "gone", "excluded"}

// String is the state's word.
func (s PageState) String() string { return word(pageStates, int(s)) }

// Paid tells whether a page of the state is one of those that a budget is for, so many for each of which it pays in a day. What is gone is looked at
// ever more rarely and what is excluded not asked for: both become more for ever, also of a site that stays as large as it was.
func (s PageState) Paid() bool { return s != StateGone && s != StateExcluded }

// OutcomeKind says what a visit found.
type OutcomeKind int16

// The kinds of outcome, in the order of the ladder that tells them apart; what came later stands at the end, because
// the numbers are stored.
const (
	NotModified   OutcomeKind = iota + 1 // 304
	SameBytes                            // 200 with the body we have
	SameText                             // 200, other bytes, same visible text
	Changed                              // 200, the visible text differs
	First                                // 200, the first good copy
	Moved                                // a redirect; RedirectTo says where
	Missing                              // 404
	Gone                                 // 410
	Failed                               // no usable answer; Class says why
	Excluded                             // not asked: robots, filter or scope forbids it; Detail says which
	RobotsFetched                        // the host's robots.txt was asked for; the page's turn comes next
	Skipped                              // not asked: an unchanged parent too few of whose children changed
	Deferred                             // not asked: outside its time windows, or its site is paused
	Interrupted                          // the daemon stopped or lost the lease; teaches nothing
	Noise                                // 200, the text or its links differ, by nothing that matters; between SameText and Changed
	Probed                               // a name that does not exist was asked for, to see the answer, or /sitemap.xml; the page's turn comes next
)

var outcomeKinds = []string{"", "not-modified", "same-bytes", "same-text", "changed", "first", "moved", "missing",
	"gone", "failed", "excluded", "robots-fetched", "skipped", "deferred", "interrupted", "noise", "probed"}

// OutcomeKinds is how many kinds there are: they are the numbers from 1 up to it.
func OutcomeKinds() OutcomeKind { return OutcomeKind(len(outcomeKinds) - 1) }

// String is the kind's word.
func (k OutcomeKind) String() string { return word(outcomeKinds, int(k)) }

// Observed tells whether the visit saw the page's present content, so that it counts as a record for its change rate.
func (k OutcomeKind) Observed() bool { return k >= NotModified && k <= First || k == Noise }

// Unchanged tells whether the content was seen and is, but for what does not matter, the one we have.
func (k OutcomeKind) Unchanged() bool { return k >= NotModified && k <= SameText || k == Noise }

// OtherBytes tells whether a body was seen that differs from the one we had, in what matters or not.
func (k OutcomeKind) OtherBytes() bool { return k == SameText || k == Noise || k == Changed }

// Asked tells whether a request went out for the page.
func (k OutcomeKind) Asked() bool { return k >= NotModified && k <= Failed || k == Noise }

// ErrorClass names why a visit failed. Ours() tells the faults of our own side, which never count against a site.
type ErrorClass int16

// The classes of failure.
const (
	ClassNone         ErrorClass = iota
	DNSNotFound                  // the name does not exist
	DNSTemporary                 // the resolver failed or was too slow
	BlockedAddress               // the name leads to an address that we do not dial
	ConnRefused                  //
	ConnReset                    //
	ConnTimeout                  // no connection within the dial time-out
	ConnOther                    // unreachable network or host, and the rest
	TLSCertificate               // expired, wrong host, unknown authority
	TLSProtocol                  // the handshake failed otherwise
	HTTPProtocol                 // not HTTP, or HTTP that we do not accept
	HeaderTimeout                // no headers in time
	HeaderTooLarge               //
	BodyShort                    // the connection ended before the body did
	BodySlow                     // the body did not end within the page's time limit
	BodyTooLarge                 // more bytes than the limit, on the wire or decoded
	BadEncoding                  // a Content-Encoding that we cannot undo
	BadNotModified               // 304 to a request that set no condition
	RedirectBad                  // no usable Location
	RedirectLoop                 // back to a page of the same chain
	RedirectTooMany              // more hops than the limit
	RedirectBlocked              // to a scheme or an address that we do not follow
	Refused                      // 401, 403, 407, 451
	TooManyRequests              // 429
	ServerError                  // 5xx
	UnexpectedStatus             // any other status
	EmptyBody                    // 200 with no bytes where there was content
	RobotsUnreachable            // robots.txt could not be had, so nothing may be asked
	OwnDisk                      // ours: no space or an I/O error here
	OwnLimit                     // ours: out of file descriptors or memory
	OwnNetwork                   // ours: all hosts failed at once
	OwnPanic                     // ours: a bug; the log has the stack
	OwnRules                     // ours: no contact is given, or a rehearsal would ask somebody else's server
	ErrorPage                    // 200 with an error or outage page where there was content
	LoginWall                    // 200 with a log-in form, or a redirect to one, where there was content
	BlockPage                    // 200 with a challenge or a block page
	Shell                        // 200 with a page that has no content yet: a loading screen, an empty frame
	OlderCopy                    // 200 with what the page said before, as a cache or a server that is behind others answers
)

var errorClasses = []string{"", "dns-not-found", "dns-temporary", "blocked-address", "conn-refused", "conn-reset",
	"conn-timeout", "conn-other", "tls-certificate", "tls-protocol", "http-protocol", "header-timeout",
	"header-too-large", "body-short", "body-slow", "body-too-large", "bad-encoding", "bad-not-modified",
	"redirect-bad", "redirect-loop", "redirect-too-many", "redirect-blocked", "refused", "too-many-requests",
	"server-error", "unexpected-status", "empty-body", "robots-unreachable", "own-disk", "own-limit", "own-network",
	"own-panic", "own-rules", "error-page", "login-wall", "block-page", "shell", "older-copy"}

// ErrorClasses is how many classes of failure there are: they are the numbers from 1 up to it.
func ErrorClasses() ErrorClass { return ErrorClass(len(errorClasses) - 1) }

// String is the class's word, "" for none.
func (c ErrorClass) String() string { return word(errorClasses, int(c)) }

// Ours tells whether the fault is on our side.
func (c ErrorClass) Ours() bool { return c >= OwnDisk && c <= OwnRules }

// Transient tells the answers that came with status 200 and without the page's present content: the last good version stays.
func (c ErrorClass) Transient() bool { return c >= ErrorPage && c <= OlderCopy }

// HostWide tells whether the failure speaks of the whole host and not of one page.
func (c ErrorClass) HostWide() bool {
	return (c >= DNSNotFound && c <= TLSProtocol) || c == HeaderTimeout || c == TooManyRequests || c == ServerError ||
		c == RobotsUnreachable
}

// Rule names what set a page's due time: the last one that moved it.
type Rule int16

// The rules.
const (
	RuleStart     Rule = iota + 1 // newly known: due at once, or spread over the first cycle
	RulePolicy                    // fr_max cycles from the last visit
	RuleHint                      // the server said the page is fresh until then (Expires, max-age)
	RuleWindow                    // moved into the site's time window
	RuleBackoff                   // the page's own error clock
	RuleHost                      // the host's error clock or its Retry-After
	RuleParent                    // brought forward by a parent's full crawl
	RuleMissing                   // a 404 waits for confirmation
	RuleGone                      // looked at rarely: it is gone
	RuleExcluded                  // not visited at all
	RulePaused                    // its site is paused
	RuleManual                    // somebody asked for it now
	RuleBudget                    // put off: its site's budget is spent, and has paid for a visit then
	RuleDuplicate                 // its content is visited under another URL, so this one is looked at rarely
	RuleSitemap                   // a sitemap or feed of its host said that it changed
	RuleList                      // it is read for the pages that it names: a sitemap or feed, a start page, or one whose visits lead to new pages
	RuleAnnounced                 // its publisher said that it changed
	RuleResumed                   // its site was paused when its turn came, and is resumed
	RuleGuarded                   // it would be gone, but too many of its site's pages are lost at once
	RuleApproved                  // it was held back so, and somebody approved: it is gone if it is not found once more
	RuleLost                      // the archive has lost its newest body, so it is fetched anew
	RuleUnnamed                   // a requisite that no page's copy names any more: it is not visited
	RuleNamed                     // it is named again, and was not for a while
	RuleOriginal                  // the page of which it is a duplicate changed, or is none to follow any more
	RuleStale                     // a cache answered with what it had kept too long, and fetches it anew since it was asked
	RuleAside                     // all pages of its family ask to be left aside, so it is looked at rarely
)

// ByValue tells whether the rule is one of those that set a due time by what a visit is worth, or by what pays for it.
func (r Rule) ByValue() bool { return r == RulePolicy || r == RuleBudget || r == RuleWindow }

// Spare tells whether a page that is due by the rule may be visited before, where a budget has a visit to spare.
func (r Rule) Spare() bool {
	return r == RulePolicy || r == RuleWindow || r == RuleStart || r == RuleBudget
}

// Movable tells whether a due time of the rule may be moved without a visit: those by value, and what lists and publishers say,
// the lists themselves and what the archive has lost, which get the place among these that they are worth.
func (r Rule) Movable() bool { return r.ByValue() || r.Heard() || r == RuleList || r == RuleLost }

// Heard tells whether the rule is that a page is due because somebody who may be wrong said that it changed.
func (r Rule) Heard() bool { return r == RuleSitemap || r == RuleAnnounced }

// OfDuplicate tells whether the rule is one of those that set when a duplicate is looked at again. Nothing but its original moves that.
func (r Rule) OfDuplicate() bool { return r == RuleDuplicate || r == RuleOriginal }

var rules = []string{"", "start", "policy", "hint", "window", "backoff", "host", "parent", "missing", "gone", "excluded",
	"paused", "manual", "budget", "duplicate", "sitemap", "list", "announced", "resumed", "guarded", "approved", "lost", "unnamed", "named",
	"original", "stale", "aside"}

// Rules is how many rules there are: they are the numbers from 1 up to it.
func Rules() Rule { return Rule(len(rules) - 1) }

// String is the rule's word.
func (r Rule) String() string { return word(rules, int(r)) }

// EventKind says what happened to a page.
type EventKind int16

// The kinds of event.
const (
	EventNew       EventKind = iota + 1 // the first good copy
	EventChanged                        // a new version whose visible text differs
	EventRefreshed                      // other bytes and nothing that matters changed; or it became a duplicate, or is none any more
	EventMoved                          // redirects to RedirectTo
	EventGone                           // confirmed gone
	EventRestored                       // was gone, moved or failing, answers again with the copy we have
	EventFailing                        // entered the error state
	EventExcluded                       // no longer visited
	EventTemplate                       // a region that many pages of the host share changed on all of them: one event of the host
	EventRemoved                        // somebody removed its site: nothing is known of it any more
)

var eventKinds = []string{"", "new", "changed", "refreshed", "moved", "gone", "restored", "failing", "excluded", "template", "removed"}

// String is the kind's word.
func (k EventKind) String() string { return word(eventKinds, int(k)) }

func word(words []string, i int) string {
	if i < 0 || i >= len(words) {
		return "unknown"
	}
	return words[i]
}
