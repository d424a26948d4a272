// Package config holds the settings of the daemon as plain structs: what each means, its unit, its default and its
// bounds. Load reads the strict YAML form; Default is what holds without a file.
//
// In the file a key is the field's name in lower snake case (FRMax is fr_max, Worker.MinFree is worker: {min_free: …}),
// units are always written (90s, 6h, 30d, 2w; 512MiB, 10MB; 15%), and what may be switched off is switched off with the
// word off. Settings stand under defaults: and, where a site differs, beside its url: under sites:. The text Example,
// recrawld.yaml in this directory, is such a file with comments.
package config

import (
	"net/netip"
	"time"
)

// Config is everything an operator may set, after defaults and inheritance: the value in force.
type Config struct {
	Agent    Agent
	Cycle    string // one scheduling cycle: a duration ("6h", 1m–366d) or a cron expression ("0 */6 * * *"); default 6h
	Store    string // "sqlite" (the file recrawld.db in Data, the default) or a PostgreSQL URL, "postgres://…"; see secret.go
	Data     string // directory of all state; default ./recrawld-data, under systemd $STATE_DIRECTORY; see SetData
	Listen   string // address of /healthz, /metrics and the API; loopback; default 127.0.0.1:8686; "off" for none
	Network  Network
	Worker   Worker
	History  History
	Backup   Backup
	Mirror   Mirror
	Webhooks []Webhook // receivers that are told what happened to pages
	Indexes  []Index   // search servers that are given what pages say
	Mails    []Mail    // key mail: digests that are sent to people
	Chats    []Chat    // key chat: short ones, to chats and phones
	WebSub   WebSub
	Budget   Budget // of all sites together; a site may have one of its own beside it

	Defaults Settings // what a site has unless it says otherwise
	Sites    []Site   // in the order of the file, then those added by commands
}

// Agent says who is asking.
type Agent struct {
	Name    string // product token of letters, "-" and "_", default "recrawld"; robots.txt groups are matched by it
	Contact string // http(s) URL or mail address; required before a host that is not loopback is asked: CheckContact
}

// Network bounds what may be dialled.
type Network struct {
	Allow []netip.Prefix // addresses to dial although they are not public; default none
	Ports []uint16       // ports that may be dialled; default 80, 443, 8080, 8443; an allowed address may use any

	// HostsPerAddress is how many hosts are visited at one address at once, 1–4096; default 8; 0 ("off"): no bound. An IPv6
	// address counts as its /64; addresses of Allow have no bound. At 100 ms an answer 8 is 80 visits a second, as many as
	// 800 hosts at a delay of 10s ask for: enough for a service in front of many sites, and little for a machine that is
	// shared by some. What many more hosts share takes a higher value, or a turn later.
	HostsPerAddress int

	Connections int   // open at once, kept ones included, 16–65536; at least Worker.Fetchers; default 2048; 0 ("off"): no bound
	Bandwidth   int64 // bytes received a second, by all connections together, ≥ 64KiB; default 0 ("off"): no bound
}

// Worker sizes one process.
type Worker struct {
	Name     string // unique among the workers of a database; default HOST-0
	Fetchers int    // requests in flight, 1–4096; default 64
	// SlowShare is the share of the fetchers that hosts may hold which answer in 2 s or more, fail or have never answered,
	// 1%–100%; default 50%: so many others always have room. 100% is no bound.
	SlowShare float64

	Lease   time.Duration // how long a host is held, 5s–1h; default 5m; more than every PageTime plus a minute, or plus its own half
	Grace   time.Duration // how long visits may go on after SIGTERM, 0–5m; default 25s
	Memory  int64         // bytes of bodies being read, the first MiB of each left out, and as many read and not stored yet; ≥ 16MiB and every BodyBytes; default 256MiB: a fetcher waits when it is full
	MinFree int64         // bytes free on the disk of Data below which claiming pauses; default 512MiB
}

// History says how long visits are kept one by one; the daily sums stay.
type History struct {
	Keep time.Duration // default 90d, 1d–36500d
}

// Budget bounds what is asked for in a day, on the mean: it comes in evenly, and what is not spent is kept for later. At most that is what
// comes in within 18 hours; at the beginning and after a cut it is what comes in within a minute, or four requests, and grows
// to that in 19 days. The zero Budget has no bounds.
type Budget struct {
	Requests Rate  // visits that send a request
	Bytes    int64 // received, a day; 0 ("off"): no bound
}

// Rate is a number of requests a day: "2000/day", or for each page known that is not gone or excluded: "0.2/page/day".
type Rate struct {
	PerDay  float64 // ≥ 0; 0 ("off"): no bound
	PerPage bool    // PerDay is for each of these pages; the first visits to new pages come beside it
}

// Backup says when a checkpoint is taken.
type Backup struct {
	Every time.Duration // default 8h, 1m–366d; 0 ("off"): never
	Keep  int           // newest so many, default 3, 1–1000
	Dir   string        // default Data/backups
}

// Mirror is the tree of files that follows the pages.
type Mirror struct {
	Dir   string        // default Data/mirror; "off" for none
	Trash time.Duration // how long the files of pages that are gone are kept in its trash; 0: for ever
}

// WebSub says where hubs find the daemon, so that they tell of what feeds say the moment they say it.
type WebSub struct {
	Callback string        // the https URL from which the operator's proxy passes on to /websub/ of Listen, with its "/" at the end; default "off": no hub is asked
	Lease    time.Duration // a subscription is asked for so long, and renewed before it ends, 1h–366d; default 10d; what a hub grants beyond it does not count
}

// Site is a set of pages with one policy.
type Site struct {
	ID       int32  // its row in the database; 0 until it has one
	Name     string // unique, ≤ 100 bytes without spaces or slashes; default the host of URL, with its port
	URL      string // the start URL, canonical
	Settings Settings
}

// Settings are what can differ from site to site.
type Settings struct {
	// Schedule.
	Policy      string        // one of Policies; where none is named (PolicyNamed) "adaptive" if a budget bounds the site, else "classic"
	PolicyNamed bool          // the file or a command says which Policy
	Budget      Budget        // of this site alone, beside the budget of all; default none
	SLO         Goal          // what is promised of its changes or of its copies, and measured; it moves no visit. Default none ("off")
	Importance  Importance    // worth of the site's pages beside each other; default all alike
	FR          int           // the interval a new page starts with, in cycles, 1–FRMax; default 4
	FRMax       int           // ceiling of fr_max in cycles, 1–100000; default 120. Under adaptive as far as a third of the budget pays for it (scheduler.Ceiling)
	Records     int           // how many past records the classic policy looks at ("limit" of the paper), 2–64; default 20
	Vary        float64       // share of the interval over which the time of a visit varies, 0–0.5; default 0.15
	Windows     []Window      // when visits are allowed; none: always
	HintMax     time.Duration // how far an Expires or max-age may put off a visit, ≤ 366d; default 7d; 0 ("off"): not used

	// Politeness.
	Delay       time.Duration // between two requests to a host, end to start, 0–1h; default 10s
	DelayMax    time.Duration // clamp of a robots.txt Crawl-delay and of what load adds to Delay, Delay–1d; default 5m
	DelayFactor float64       // and at least so many times the host's smoothed response time, 0.1–100; default 5, over Concurrency; 0 ("off"): not; nor where Delay is 0
	Concurrency int           // requests in flight to one host, 1–64; default 1
	RetryMax    time.Duration // clamp of Retry-After, 0–30d; default 24h

	// Headers are sent with each request to the scheme, host and port of the site's URL, and to no other; default none.
	Headers []Header

	// Limits of one visit.
	PageTime    time.Duration // from request to last byte, the trap limit, 1s–10m; default 2m
	WireBytes   int64         // bytes received, 1KiB–16GiB; default 32MiB
	BodyBytes   int64         // bytes after decoding, 1KiB–16GiB; default 64MiB
	HeaderBytes int64         // 1KiB–16MiB; default 256KiB

	// Scope and traps.
	Scope      []string // further http(s) URL prefixes that belong to the site; the start URL's directory always does; "*" is all hosts
	Level      int      // links from the start URL, 0–1000; default 10
	Filter     Filter   // which URLs are kept; none: all in scope
	Requisites string   // of what pages need to be shown, what is kept too: RequisitesOff, RequisitesSite or RequisitesAll; default RequisitesOff

	// RequisitesFilter is which of the requisites are kept; none: all. Neither Level nor Filter nor the paths of Scope hold for them;
	// the limits against traps below do. A site gathers 10000 of them, or 100 for each page that is none where that is more
	// (models.MostRequisites). Those that no page's copy names any more are not visited (models.RuleUnnamed).
	RequisitesFilter Filter

	NoIndex      string // which pages are visited of a family that all ask for noindex and nofollow: NoIndexFew or NoIndexAll; default NoIndexFew
	URLLength    int    // bytes, 64–65535; default 2048
	Segments     int    // path segments, 1–1000; default 20
	Repeats      int    // how often one segment may stand in a path, 1–1000; default 3
	PagesPerHost int    // URLs known per host, 1–1000000000; default 10000000
	LinksPerPage int    // links read from one page, 0–1000000; default 10000
	ChildrenKept int    // children stored for a parent, 0–100000; default 500
	Lists        string // what sitemaps and feeds are read for: ListsPages, ListsChanges or ListsOff; default ListsPages
	IndexNow     Key    // whoever shows it is heard of what he says changed; default none: nobody is
	ListEntries  int    // entries read of one of them, 1–50000; default 50000

	// What counts as a change.
	Significance float64       // 0–1: a change of less does not count for the schedule; default 0.5; 0: every change of text or links does
	Watch        []string      // CSS selectors: what alone is content; default none: it is found out
	WatchSome    []Watched     // key watch, too: what it is of some pages, by the first whose filter keeps one, in place of Watch
	Ignore       []string      // CSS selectors: what is never content
	IgnoreText   []string      // RE2: text that is taken out before versions are compared
	Duplicates   bool          // pages with the content of another are visited rarely; default on
	Audit        float64       // share of a host's conditional visits made without conditions, to try its validators, 0–1; default 1%; 0 ("off"): none
	Probe        time.Duration // how often a host is asked for a name that does not exist, and for a sitemap that robots.txt does not name, 1d–366d; default 30d; 0 ("off"): never

	// Parents.
	Parents Parents

	// Evidence before a 404 counts as gone.
	GoneVisits int           // key gone: {visits}: 404s in a row, 1–1000; default 3
	GoneOver   time.Duration // key gone: {over}: and over at least this time, 0–366d; default 48h
	GoneGuard  float64       // key gone: {guard}: no page is gone while such a share of its site or host is lost at once, 5–100 %; default 25 %; 0 ("off"): they are
}

// What sitemaps and feeds of a site's hosts are read for. With ListsOff those that robots.txt names are not asked for, and
// those that pages link to are pages like others.
const (
	ListsPages   = "pages"   // new pages, and which of the known ones changed
	ListsChanges = "changes" // which of the known pages changed
	ListsOff     = "off"     // nothing
)

// AddsListed tells whether pages are added that a list names which lies so many links from the start. Otherwise it is read for what it says of
// pages that are known.
func (s *Settings) AddsListed(level int) bool { return s.Lists == ListsPages && level < s.Level }

// What is kept of what a site's pages need to be shown: images, styles, scripts, fonts.
const (
	RequisitesOff  = "off"  // what scope keeps anyway
	RequisitesSite = "site" // all on the hosts of the site's URL and of its Scope
	RequisitesAll  = "all"  // all, on any host
)

// What is visited of pages of a family that ask to be left aside, all that were seen: for noindex and nofollow, or as other addresses of pages.
const (
	NoIndexFew = "few" // those by which that is seen
	NoIndexAll = "all" // each, as any page
)

// KeepsRequisites tells whether what the site's pages need to be shown is kept, beyond its scope.
func (s *Settings) KeepsRequisites() bool {
	return s.Requisites == RequisitesSite || s.Requisites == RequisitesAll
}

// Importance says what it is worth to have a page fresh, beside the pages of all sites. A page's importance is Weight,
// times the weight of the first of Rules that keeps its URL, times what its links make of it.
type Importance struct {
	Weight float64 // 0.001–1000; default 1
	Links  bool    // pages that more, and more important, pages link to are worth more; default off
	Rules  []Weight
}

// Weight is the worth of pages that a filter keeps.
type Weight struct {
	Filter Filter
	Weight float64 // 0.001–1000
}

// Watched is what alone is content of the pages that a filter keeps.
type Watched struct {
	Filter    Filter
	Selectors []string // CSS; none: it is found out
}

// Parents sets the selective recrawl of an unchanged page whose children changed.
type Parents struct {
	Threshold float64 // share of changed children to begin with, 0.05–0.95; default 0.40; 0 ("off"): every turn is visited
	MaxSkips  int     // turns skipped in a row before the page is visited anyway, 1–1000; default 3
}

// Window is a daily span of time in a zone, on some weekdays: "22:00-06:00 Europe/Berlin", "Mon-Fri 08:00-18:00 UTC".
// A span that ends before it begins runs past midnight and belongs to the day on which it begins.
type Window struct {
	From, To time.Duration // since local midnight, 0–24h
	Days     [7]bool       // by time.Weekday, of the day on which it begins
	Zone     *time.Location
}

// Filter decides whether a URL is kept. Exactly one field is set; the zero Filter keeps everything. A list of names
// keeps a URL that matches one of them. In the file: filter: {all: [{host: example.org}, {not: {extension: [jpg, png]}}]}.
// A site's filter replaces that of the defaults.
type Filter struct {
	All []Filter // every one keeps it
	Any []Filter // at least one keeps it
	Not *Filter  // that one does not keep it

	Scheme    []string // "http" or "https"
	Host      []string // exact name, lower case; with a port ("example.org:8080") only at that port
	Domain    []string // the name or any below it
	Path      []string // path prefix
	Glob      []string // of the whole URL, see CompileGlob; * is a run of characters but "/", ** also across "/"
	Regexp    []string // RE2, found anywhere in the URL
	Param     []string // has one of these query parameters
	Extension []string // of the last path segment, lower case, without dot; "": it has none

	Line int // where it stands in the file, for messages; 0: not from a file (a command, the database)
}

// Site returns the site of a database ID, or one with the default settings where the configuration has none (a site
// that was taken out of the file keeps its pages, and they keep being visited under the defaults until it is removed).
func (c *Config) Site(id int32) Site {
	for i := range c.Sites {
		if c.Sites[i].ID == id {
			return c.Sites[i]
		}
	}
	return Site{ID: id, Settings: c.Defaults}
}

// SettingsOf is Site's settings without a copy: the caller does not change them.
func (c *Config) SettingsOf(id int32) *Settings {
	for i := range c.Sites {
		if c.Sites[i].ID == id {
			return &c.Sites[i].Settings
		}
	}
	return &c.Defaults
}
