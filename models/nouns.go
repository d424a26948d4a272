package models

import "time"

// Site is a named set of pages with one policy: an entry of the configuration, or one added by a command.
type Site struct {
	ID        int32  // small and stable: rows refer to it
	Name      string // unique
	URL       string // the start URL, canonical
	Settings  string // YAML of the settings given by a command; empty for a site of the configuration file
	FromFile  bool   // in the configuration file when the daemon last loaded it
	Paused    bool
	CreatedAt Instant

	// GuardedAt is since when so many of its pages have been lost at once that none counts as gone; 0: they do. Those that were
	// missing by ApprovedAt do all the same.
	GuardedAt, ApprovedAt Instant
	LossPerDay            float32 // the share of its pages that is usually lost in a day; 0: so small that it does not matter
}

// Host is a server name with its politeness and its lease. Its ReadyAt is the queue.
type Host struct {
	Bucket       int16
	ID           int64
	Name         string // see canon.HostName: lower case, with the port where it is not the scheme's own
	ReadyAt      Instant
	OpenAt       Instant       // politeness: no request before
	BackoffUntil Instant       // the host's error clock and Retry-After
	Failures     int32         // host-wide failures in a row
	Delay        time.Duration // the politeness delay last held
	LeaseToken   int64         // grows with each claim
	LeaseUntil   Instant       // 0: idle
	LeaseOwner   string        // the worker's name
	Pages        int32         // pages known, in any state
	Requisites   int32         // those of them that are requisites (Page.Requisite)
	Ahead        bool          // its pages may be visited before they are due, where the budget has a visit to spare
	Learned      int32         // how often its knowledge was written; 0: there is none
	Trials       Trials        // what its validators and promises proved to be worth
	Removals     int32         // one more with each page of it that is removed or unnamed (Unname): what is familiar of it is not any more; from NewHost on
	AskedAt      Instant       // when somebody last asked for visits to pages of it while it was leased: they may have been under way; 0: never
	GuardedAt    Instant       // since when so many of its pages are lost at once (Trials.Losses) that none counts as gone; 0: they do
}

// RobotsHold is how long a robots.txt holds at most (RFC 9309, section 2.4).
const RobotsHold = 24 * time.Hour

// Robots is what a host's robots.txt said, one row for each origin (scheme and host).
type Robots struct {
	Bucket     int16
	HostID     int64
	Origin     string        // "https://example.org"
	Status     int16         // HTTP status of the last try, 0: no answer
	Class      ErrorClass    // why the last try failed
	Body       []byte        // the rules in force, at most 500 KiB; nil: none
	CrawlDelay time.Duration // for our agent, clamped; 0: none
	FetchedAt  Instant       // the last try
	ExpiresAt  Instant       // ask again from then on
	GoodAt     Instant       // when Body was last confirmed by a server
	LeadsTo    string        // where the last try was redirected to, which is asked for next; empty: nowhere
	Hops       int16         // redirects on the way there
}

// ChangeStats is what a page's visits showed of its changes: the input of every policy.
// A record is a visit that saw the content; each record after the first either differs from the one before or not.
type ChangeStats struct {
	Records   int32   // visits that saw the content
	Changes   int32   // records that differ from the one before
	Bits      uint64  // the last 64 comparisons, the newest in bit 0; 1: differed
	FirstAt   Instant // the first record
	VisitedAt Instant // the last record
	ChangedAt Instant // the last record that differed; 0: none did
}

// Evidence is what a page's own visits say of its change rate beyond what its neighbours say: what they add to the
// shape and to the rate of the gamma prior. Either may be negative.
type Evidence struct {
	Changes float32 // added to the shape
	Days    float32 // added to the rate
}

// Page is one URL that is kept fresh.
type Page struct {
	Bucket int16
	ID     int64
	HostID int64
	SiteID int32
	URL    string // canonical
	State  PageState
	Level  int16 // links from the start URL

	// Requisite tells that it is kept because a page needs it to be shown, an image, a style or a script, wherever it lies; what the
	// scope of its site keeps in any case is a page like others. It is set when the page is found, and not written by Commit.
	Requisite bool

	// UnnamedAt is since when a requisite is in the copy of no page, as far as somebody looked (Unname); 0: it is, or was named since. Not
	// written by Commit but for what it discovers (NameAgain).
	UnnamedAt Instant

	Note string // why it is excluded or failing, for a person

	// Schedule.
	DueAt  Instant       // 0: never
	FRMax  int32         // visit interval in cycles, ≥ 1
	Rule   Rule          // what set DueAt
	Wanted time.Duration // what the policy alone asked for, from visit to visit
	Visits int32         // attempts so far, asked or not; the number of the last row in its history

	Importance  float32 // worth of having it fresh beside that of other pages; 0 or 1: as that of any other. Not written by Commit
	ToldAt      Instant // when a list of its host last said for sure that it had changed since its visit; 0: none did. Not written by Commit but for Result.Told
	AnnouncedAt Instant // when its publisher last said that it had changed; 0: never. Not written by Commit
	NamedAt     Instant // when something last named it that did not before, while it was gone; 0: nothing did. Not written by Commit but for Result.Told and Discovered
	Lost        bool    // the archive has lost the body of its newest version: a visit asks for all of it and keeps it. Not written by Commit but for Result.Regained

	// What was seen.
	Stats         ChangeStats // of its content: changes that do not matter are none
	ByteChanges   int32       // records whose bytes differ from the one before
	BytesAt       Instant     // the last record whose bytes differed; 0: none did
	Evidence      Evidence
	TriedAt       Instant // the last attempt that sent a request
	Failures      int32   // failures in a row; 0 after any good answer
	Class         ErrorClass
	MissingSince  Instant // the first 404 of the present run
	MissingVisits int32   // 404s in the present run
	FreshUntil    Instant // what Expires or max-age promised, clamped
	RedirectTo    string  // canonical target, for StateMoved
	Chain         []int64 // pages that redirected here, oldest first, for a page found by a redirect; ≤ 10

	// The copy we hold.
	Version      int32 // number of the newest version; 0: none
	ETag         string
	LastModified string // both verbatim, as the server sent them
	Digest       Digest // of the decoded body
	TextDigest   Digest // of the normalised visible text; zero where there is no text rung
	LinkPrint    int64  // of the targets of its links, whatever their order; 0: it has none, or was not parsed
	Print        Print  // of what it says; zero: too little, or was not parsed
	Canonical    string // what it names as its canonical URL; empty: nothing, or itself
	ContentType  string // media type without parameters, lower case
	Bytes        int64  // decoded length
	DuplicateOf  string // URL of the page that has this content, or nearly this, and was known first; empty: this one
	NoArchive    bool   // the page asked not to be kept for others (robots meta or header)

	// As a parent.
	Children  int32   // links kept in the database
	FullAt    Instant // when its links were last extracted
	Threshold int16   // share of changed children that makes a full crawl worth it, in permille
	Skips     int16   // turns skipped in a row

	Entries int32 // as a list, a sitemap or a feed: the pages that it names and its site keeps; 0: it is none
}

// IsList tells whether the page is read as a list of pages, a sitemap or feed, or will be, since it is named as one.
func (p *Page) IsList() bool { return p.Entries > 0 || p.Rule == RuleList && p.State == StateNew }

// LeadsAway tells whether the page is elsewhere, as far as is known: it redirects, or did and answers 404 since, which is not news to
// anybody until it is confirmed. One that was given up stays where it was: earlier versions of pages lead there.
func (p *Page) LeadsAway() bool {
	return p.State == StateMoved || p.GivenUp() && p.State == StateExcluded && p.RedirectTo != "" || p.State == StateMissing && p.RedirectTo != ""
}

// ChildShare counts the known children of a page: the pages it links to that lie deeper in the site (a higher Level), but those
// that are looked at rarely, whatever they do, and were not seen to change.
type ChildShare struct {
	Known   int32
	Changed int32 // those whose ChangedAt, or first record, is later than the parent's FullAt
}

// LeasedPage is a due page with what a visit needs beside its row.
type LeasedPage struct {
	Page
	Share ChildShare
}

// Lease is the right to visit one host until Until, and its due pages, the longest due first.
type Lease struct {
	Host   Host // Host.LeaseToken is the token that Commit checks
	Until  time.Time
	Robots []Robots
	Pages  []LeasedPage
}

// FoundLink is a link that a page names and that its site's scope, filters and (on the same host) robots.txt keep.
type FoundLink struct {
	URL      string // canonical, absolute
	Host     string // canon.HostName of it
	Relative bool   // written without a host
	List     bool   // named as a sitemap or feed
	Aside    bool   // of a family of pages that is left aside: it is no new page
}

// Outcome is all that a visit learned. A failed fetch is an Outcome too.
type Outcome struct {
	Kind   OutcomeKind
	Class  ErrorClass    // for Failed
	Detail string        // for a person: the robots line, the error text; at most 300 bytes, no control characters
	At     time.Time     // when the request was sent
	Took   time.Duration // from the request to the last byte, without what bounds of our own took
	Sent   int           // requests that reached for the network, robots.txt included

	// The answer.
	Status     int
	Proto      string // "HTTP/1.1", "HTTP/2.0"
	RemoteIP   string
	Header     []byte // request and status line excluded: the header block as it will be archived, CRLF lines
	Request    []byte // the request head as sent, for the archive
	Body       []byte // decoded; set where the bytes are new to the page (First, Changed, SameText), or its copy is lost (Page.Lost)
	WireBytes  int64  // body bytes on the wire
	HeadBytes  int64  // of the heads of all answers, as HTTP/1.1 writes them
	RedirectTo string // canonical target, for Moved, for what failed by a RedirectLoop if known, and for Probed where that is to be asked next
	Permanent  bool   // 301 or 308

	// What it says.
	ETag, LastModified string
	ModifiedAt         time.Time     // when Last-Modified says that it last changed, by our clock; zero: it says nothing that can be so
	FreshUntil         time.Time     // Expires or max-age, clamped; zero: said nothing
	CacheAge           time.Duration // how long a cache has had the answer, by its Age; 0: it says nothing
	Stale              bool          // that is longer than it may be kept, or a cache says so itself
	RetryAfter         time.Time     // host-wide; zero: said nothing
	ContentType        string
	Title              string
	// BodySum is the CRC-32 (IEEE) of what Digest was computed of; 0: unknown. Whoever writes the body holds it against that: damage
	// on the way is found out but once in 2^32 times, for a tenth of what another SHA-256 takes.
	BodySum uint32

	Digest, TextDigest Digest
	Links              []FoundLink // kept links, no duplicates, in page order
	LinksKnown         bool        // the page was parsed, so Links is its whole set
	Requisites         []FoundLink // what it needs to be shown and its site keeps: found as Page.Requisite, and no children; no duplicates
	NoIndex, NoArchive bool
	NoFollow           bool
	Unconditional      bool // asked without conditions, though we hold validators
	LinkPrint          int64
	Print              Print
	Canonical          string // what the page names as its canonical URL, canonical; empty: nothing, or itself

	// What the change is worth, for Changed and Noise.
	Significance float32 // 0–1
	Reasons      Reasons
	Retract      bool // the change that the visit before reported turned out to be noise

	// What is remembered beyond the rows; nil: as it was.
	Memory     []byte // of the page
	HostMemory []byte // of the host
	HostTurn   int64  // grows with each HostMemory of a lease: an older one must not replace a newer one
	Aside      bool   // the page is left aside, as all of its family that ask for noindex and nofollow or say what their canonical pages say; or it is one by which that is known
	StandsIn   bool   // the page is as it was, and that is what other pages of its host show in place of their contents
	Template   string // a change of the host's template was recognised by this visit: what, for a person; empty: none
	Findings   []Finding
	Hub        *Hub     // where it says as a feed that it tells of its changes; nil: it is none, or was not read. Nothing of it is written by Commit
	Looked     bool     // for Probed: it was /sitemap.xml that was asked for, or what that leads to; Links is that where it is there, RedirectTo where it leads on
	Listing    *Listing // what the page says as a list; nil: it is none, or says what it said before. Its new entries are Links

	// As a parent.
	Full      bool  // its turn was a full crawl because enough of its children changed
	Threshold int16 // the page's threshold after this turn, in permille; 0: as before

	Until     time.Time // for Deferred: when its turn comes again; for Failed: when a visit will tell whether what stands in the page's place is the page; zero: the planner knows
	HostWaits bool      // for Deferred: not the page but its host waits until then; the page stays due as it was
	Spent     bool      // for Deferred: the budget of its site is spent, and its visit at Until is paid for in advance
	Gathers   bool      // for Deferred: it waits for other pages of its host, which are visited at Until with one robots.txt

	Robots *Robots       // fetched during this visit
	Delay  time.Duration // politeness delay to hold after it
}

// UsualHead is about how many bytes the head of an answer has: with a date, the server, the validators and how long it is fresh.
const UsualHead = 400

// Received is how many bytes a visit received: what a budget of bytes pays for, and reports count. A 304 has its head alone.
func (o *Outcome) Received() int64 { return o.WireBytes + o.HeadBytes }

// Version is one body that was kept.
type Version struct {
	Bucket       int16
	PageID       int64
	Number       int32 // from 1
	At           Instant
	Status       int16
	Digest       Digest
	TextDigest   Digest
	Bytes        int64
	ContentType  string
	ETag         string
	LastModified string
	Significant  bool    // what matters differs from the version before
	Significance float32 // 0–1: how much the difference matters
	Reasons      Reasons // what differs
	Record       Record  // where the body lies
}

// Record is the place of a record in the archive. The zero Record is none: nothing was kept.
type Record struct {
	File   string // segment name, relative to the archive
	Offset int64
	Length int64 // compressed bytes; negative: it was found to be lost (LoseVersions), and lay here
}

// Lost tells whether the record is known not to be in the archive any more, or not whole.
func (r Record) Lost() bool { return r.Length < 0 }

// Content is the first record of a body, by digest: the content-seen test across URLs. Its bucket is the first byte
// of the digest.
type Content struct {
	Digest Digest
	Record Record
	URL    string
	At     Instant
}

// Visit is a row of the history.
type Visit struct {
	Bucket  int16
	PageID  int64
	Number  int32 // Page.Visits after it
	At      Instant
	Kind    OutcomeKind
	Class   ErrorClass
	Status  int16
	Took    time.Duration
	Bytes   int64 // received, heads included
	FRMax   int32 // after it
	Version int32 // the version current after it
	Rule    Rule
}

// Link says that a page names another one. Its bucket is the parent's.
type Link struct {
	Bucket      int16
	ParentID    int64
	ChildBucket int16
	ChildID     int64
}

// Event is an entry of the ordered log that sinks drain. Within a bucket Seq has no gaps and grows in commit order;
// all events of a page lie in one bucket.
type Event struct {
	Bucket       int16
	Seq          int64 // given by Commit
	At           Instant
	Kind         EventKind
	SiteID       int32
	PageID       int64
	URL          string
	Requisite    bool // of the page
	Version      int32
	Previous     int32   // version before; 0: none
	NotBefore    Instant // the change happened after this visit ...
	NotAfter     Instant // ... and no later than this: the one that found it, or before that where it is known when it happened
	Status       int16
	ContentType  string
	LastModified string
	Digest       Digest
	Bytes        int64
	RedirectTo   string
	Significance float32 // of a change, 0–1
	Reasons      Reasons
	Note         string // for a person: which template changed (EventTemplate), the name of the site (EventRemoved)
	Record       Record // of the version's body
	Mark         int64  // see EventRef; given by Commit
}

// Discovery is a page found by a link, a redirect, a sitemap or a person, with the name of its host. The page's keys need not
// be set; where they are, they are those of its URL and its host.
type Discovery struct {
	Page Page
	Host string
	New  bool // set by Commit: the page was not known, and its bucket is written together with that of the visit
	Anew bool // what names it did not before, a redirect or, as Commit finds out, a page by a link: it is looked at again where it is gone
}

// Result is what one transaction writes about one visit. The page is the whole row as it shall be.
type Result struct {
	Lease   LeaseRef
	Release bool // the last result of its lease: the host becomes idle

	Page       Page
	Before     *Page // the page as it was leased, or as the lease's result before left it; a store may write only what differs. nil: unknown
	Visit      Visit
	Host       Host     // OpenAt, BackoffUntil, Failures, Delay, Ahead, Trials and GuardedAt are written, nothing else
	Knowledge  []byte   // replaces what is known of the host and counts its Learned up; empty: leaves it
	Memory     []byte   // replaces what is remembered of the page; empty: leaves it
	HostMemory []byte   // replaces what is remembered of the host's noise; empty: leaves it
	Robots     *Robots  // a newer robots.txt
	Version    *Version // a new version
	Content    *Content // its body was not seen before under any URL
	Regained   bool     // Version is there again, or another one, where the newest was lost (Page.Lost); one that is known gets its new Record
	Unfiled    []Filing // keys of what the page said, under which it is not to be found any more; others' where these are gone
	Filed      []Filing // keys of what the page says, under which it is to be found
	Events     []Event
	Discovered []Discovery
	Links      []Link // the page's children; written where LinksKnown
	LinksKnown bool
	Told       []Told  // pages of the host that a list says to have changed
	Telling    Telling // what becomes of them
	Forward    Instant // bring forward to then the children last visited or tried before ForwardOf; 0: do not
	ForwardOf  Instant
	Duplicates []Duplicate // pages that wait as duplicates of this one (RuleDuplicate) to bring forward, unless they were visited since it was
}

// Duplicate is a page that is to be looked at again at DueAt, because the one of which it is a duplicate is not what it was.
type Duplicate struct {
	Bucket int16
	PageID int64
	DueAt  Instant
	Led    bool // it is none, but one that moved, if it still is, and leads nowhere as it seems
}

// Due is a new due time for a page that waits. It was decided on the page as it was then: if it was visited since (Visits)
// or something else moved it (WasDue), nothing is written.
type Due struct {
	Bucket int16
	HostID int64
	PageID int64
	Visits int32   // the page's Visits when this was decided
	WasDue Instant // its DueAt then
	DueAt  Instant
	FRMax  int32
	Wanted time.Duration
	Rule   Rule
}

// Worth is a new importance for a page.
type Worth struct {
	Bucket     int16
	PageID     int64
	Importance float32
}

// Knowledge is what is known of a host beyond its row, in a form that the store does not look into.
type Knowledge struct {
	Bucket int16
	HostID int64
	Body   []byte
}

// Memory is what is remembered of a page's content, or of a host's noise, in a form that the store does not look into. It
// lies apart from the page's row because only a visit that finds other text needs it.
type Memory struct {
	Bucket int16
	HostID int64
	PageID int64 // or HostMemoryID, OrdersID
	Body   []byte
}

// The keys of the memories that belong to a host and not to one of its pages, whose IDs are not negative.
const (
	HostMemoryID = -1 // what was learned of the host's noise
	OrdersID     = -2 // what a person decided of it: pinned, cleared
)

// Note is a small named value that workers merge into each other's.
type Note struct {
	Name string
	Body []byte
}

// LeaseRef names a lease.
type LeaseRef struct {
	Bucket int16
	HostID int64
	Token  int64
}

// Daily is a day's sums for one site and bucket: what reports read instead of the history.
type Daily struct {
	Bucket      int16
	SiteID      int32
	Day         int32 // days since 1970-01-01 UTC
	Asked       int64 // visits that sent a request for the page
	NotModified int64
	Same        int64 // same bytes, same text or nothing that matters
	Changed     int64
	First       int64
	Moved       int64
	Gone        int64 // 404 and 410
	Failed      int64
	Robots      int64 // requests for robots.txt, or for a name that does not exist
	Skipped     int64
	Bytes       int64 // received, heads included
	BytesSaved  int64 // lengths of the copies that a 304 spared
	Found       int64 // pages with a copy, requisites left out, that answered with their content, for the first time that day or since they were missing
	Lost        int64 // the same that answered 404 or 410, or all lead to one place, for the first time since they were found
	FoundDays   int64 // the days since each of Found was looked at before, added up: at least 1 and at most LookedDays each
	LostDays    int64 // likewise of Lost
}
