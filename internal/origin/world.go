package origin

import (
	"fmt"
	"net/http"
	"sort"
	"strings"
	"time"
)

// RobotsPath is where a host's robots.txt lies.
const RobotsPath = "/robots.txt"

// World is a set of hosts whose pages change over time. It is not changed once a Server serves it.
type World struct {
	Hosts []*Host
}

// Host is one web server.
type Host struct {
	Label string // for a person: "docs"
	Addr  string // "127.0.0.1:41234": where a Server listens, set by Listen

	// CrawlDelay is what its robots.txt asks for; 0: nothing.
	CrawlDelay time.Duration

	// Forbidden are the paths that its robots.txt excludes.
	Forbidden []Ban

	pages map[string]*Page
	order []*Page
}

// Ban says that robots.txt excludes all paths with a prefix from a moment on.
type Ban struct {
	Prefix string
	From   time.Time // zero: always
}

// Page is one path of a host.
type Page struct {
	Path     string // with its query, as requested
	Title    string
	Section  string // for a person; groups the figures of the demo
	Traits   Traits
	Versions []Version // by time; before the first the page answers 404

	cache cached
}

// Version is what a page answers from At until the next version.
type Version struct {
	At       time.Time              // whole seconds
	Status   int                    // 0: 200
	Location string                 // for a redirect
	Noise    bool                   // nothing but times and counters differs from the version before
	Body     func() ([]byte, error) // for 200
	Label    Label                  // what somebody else found to have changed
	Skipped  int                    // other bodies that were there before it and are left out
}

// Label says whether the content of a version differs from that of the version before.
type Label string

// The labels, as they stand in an index.
const (
	Unlabelled Label = ""  // nobody knows
	Meaningful Label = "1" // it differs, or is the first
	OtherBytes Label = "0" // nothing but bytes that mean nothing
)

// Validator is how a page lets itself be asked conditionally.
type Validator int

// The validators.
const (
	NoValidator Validator = iota
	ETag
	WeakETag
	LastModified
	BothValidators
)

var validators = []string{"none", "etag", "weak-etag", "last-modified", "both"}

// String is the validator's word.
func (v Validator) String() string {
	if v < 0 || int(v) >= len(validators) {
		return "unknown"
	}
	return validators[v]
}

// Traits are the manners of a page.
type Traits struct {
	Validator   Validator
	Gzip        bool          // compressed for those who accept it
	Latency     time.Duration // real time before the answer
	MaxAge      time.Duration // Cache-Control: max-age by the origin's clock; 0: not sent
	Expires     bool          // the same as Expires in place of max-age
	ContentType string        // "": text/html; charset=utf-8
}

// NewHost returns a host without pages.
func NewHost(label string) *Host {
	return &Host{Label: label, pages: map[string]*Page{}}
}

// Add gives the host a page. It panics when the path is taken: a mistake in the making of a world.
func (h *Host) Add(p *Page) {
	if h.pages[p.Path] != nil {
		panic(fmt.Sprintf("origin: %s has two pages %s", h.Label, p.Path))
	}
	h.pages[p.Path] = p
	h.order = append(h.order, p)
}

// Page is the page of a path, or nil.
func (h *Host) Page(path string) *Page { return h.pages[path] }

// Pages lists the pages in the order in which they were added, robots.txt among them.
func (h *Host) Pages() []*Page { return h.order }

// URL is the absolute URL of a path of the host.
func (h *Host) URL(path string) string { return "http://" + h.Addr + path }

// Forbids tells whether robots.txt excludes a path at a moment.
func (h *Host) Forbids(path string, at time.Time) bool {
	for _, ban := range h.Forbidden {
		if strings.HasPrefix(path, ban.Prefix) && !at.Before(ban.From) {
			return true
		}
	}
	return false
}

// Index is the position of the version that the page answers with at a moment, or -1 before the first.
func (p *Page) Index(at time.Time) int {
	return sort.Search(len(p.Versions), func(i int) bool { return p.Versions[i].At.After(at) }) - 1
}

// Alive tells whether a page answers 200 at a moment.
func (p *Page) Alive(at time.Time) bool {
	i := p.Index(at)
	return i >= 0 && p.Versions[i].ok()
}

// Conditional tells whether a page can answer 304.
func (p *Page) Conditional() bool { return p.Traits.Validator != NoValidator }

func (v Version) ok() bool { return v.Status == 0 || v.Status == http.StatusOK }

// Host finds a host by its address, or nil.
func (w *World) Host(addr string) *Host {
	for _, h := range w.Hosts {
		if h.Addr == addr {
			return h
		}
	}
	return nil
}

// Lookup finds a page by its absolute URL, or nil.
func (w *World) Lookup(url string) *Page {
	rest, ok := strings.CutPrefix(url, "http://")
	if !ok {
		return nil
	}
	addr, path, _ := strings.Cut(rest, "/")
	if h := w.Host(addr); h != nil {
		return h.Page("/" + path)
	}
	return nil
}

// Span is the time of the first and of the last version of the world; both zero for an empty one.
func (w *World) Span() (first, last time.Time) {
	for _, h := range w.Hosts {
		for _, p := range h.order {
			for _, v := range p.Versions {
				if first.IsZero() || v.At.Before(first) {
					first = v.At
				}
				if v.At.After(last) {
					last = v.At
				}
			}
		}
	}
	return first, last
}

// Shift moves the whole history in time, by whole seconds.
func (w *World) Shift(d time.Duration) {
	d = d.Truncate(time.Second)
	for _, h := range w.Hosts {
		for i := range h.Forbidden {
			if !h.Forbidden[i].From.IsZero() {
				h.Forbidden[i].From = h.Forbidden[i].From.Add(d)
			}
		}
		for _, p := range h.order {
			for i := range p.Versions {
				p.Versions[i].At = p.Versions[i].At.Add(d)
			}
		}
	}
}
