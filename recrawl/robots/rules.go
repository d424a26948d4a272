// Package robots answers, for one robots.txt, the questions of RFC 9309: may this agent ask for this path, which line
// says so, how long should it wait between requests, where are the sitemaps.
//
// Lines are read and rules matched as Google's own parser does (misspelt directives, missing colons, odd line ends), with
// jimsmart/grobotstxt, its port, as the oracle: FuzzRobots holds us to its verdicts. It is not used itself because it
// reads the whole file again for every question, takes a quarter of a second for a file of short lines, and breaks
// lower-case escapes with a digit in them (%3c). Where RFC 9309 and Google's matcher differ we follow the matcher, which
// is what site owners test with: an escaped unreserved byte (%7E) is not the byte itself.
package robots

import (
	"strings"
	"time"
)

// MaxBytes is how much of a robots.txt is read; RFC 9309 asks for 500 KiB at least, and more is ignored.
const MaxBytes = 500 << 10

// MaxDelay is the longest Crawl-delay that CrawlDelay returns; a longer one is cut to it.
const MaxDelay = 24 * time.Hour

// MaxSitemaps is how many sitemaps are remembered.
const MaxSitemaps = 1000

// anyAgent is the key of the groups for agents that are not named.
const anyAgent = "*"

// Rules is a compiled robots.txt. It never changes after Parse and is safe for concurrent use.
type Rules struct {
	all      []*group
	agents   map[string][]*group // by lower-case product token, and anyAgent
	sitemaps []string
}

// group is a run of user-agent lines and the rules that follow it. An agent may be named in several.
type group struct {
	rules    []rule
	stars    int // in all of them
	delay    time.Duration
	hasDelay bool
}

// Verdict is the answer to one question.
type Verdict struct {
	Allowed bool
	Line    int    // the line that decided, from 1; 0: no rule matches, so the path is allowed
	Text    string // that line, cut to 200 bytes and without control characters
}

// Parse compiles a robots.txt. It reads the first MaxBytes, up to the end of the last whole line, and takes anything: a
// body that holds no rules (an HTML page, an empty file) allows all. nil and empty bodies are the same.
func Parse(body []byte) *Rules {
	text := decode(body)
	if len(text) > MaxBytes {
		text = wholeLines(text[:MaxBytes])
	}
	b := builder{rules: &Rules{agents: map[string][]*group{}}}
	eachLine(text, b.line)
	b.rules.sort()
	return b.rules
}

// Verdict tells whether an agent may ask for a path. The agent is a product token ("recrawld", not "recrawld/1.0"),
// its case does not matter. The path is the path and query of a canonical URL. The longest rule that matches wins, and
// of an allow and a disallow of one length the allow. "/robots.txt" itself is for the caller to exempt.
func (r *Rules) Verdict(agent, path string) Verdict {
	path = escapePath(path)
	var best *rule
	for _, g := range r.groups(agent) {
		for i := range g.rules {
			candidate := &g.rules[i]
			if best != nil && !candidate.beats(best) {
				break
			}
			if candidate.matches(path) {
				best = candidate
				break
			}
		}
	}
	if best == nil {
		return Verdict{Allowed: true}
	}
	return Verdict{Allowed: best.allow, Line: best.line, Text: printable(best.text)}
}

// Effort is how much work Verdict may be, about in units of a rule without a star: a robots.txt of the longest kind that is read
// can take ten milliseconds, which somebody with many questions has to know.
func (r *Rules) Effort(agent, path string) int {
	effort := 0
	for _, g := range r.groups(agent) {
		effort += len(g.rules) + g.stars*(16+len(path)/8)
	}
	return effort
}

// CrawlDelay is the longest Crawl-delay of the groups that apply to an agent, at most MaxDelay. false: there is none
// that can be read as a number of seconds.
func (r *Rules) CrawlDelay(agent string) (time.Duration, bool) {
	longest, found := time.Duration(0), false
	for _, g := range r.groups(agent) {
		if g.hasDelay {
			longest, found = max(longest, g.delay), true
		}
	}
	return longest, found
}

// Sitemaps are the values of the Sitemap lines as written, without duplicates, in order, at most MaxSitemaps.
func (r *Rules) Sitemaps() []string { return r.sitemaps }

// groups are those that name the agent, or else those for any agent.
func (r *Rules) groups(agent string) []*group {
	if named, ok := r.agents[strings.ToLower(agent)]; ok {
		return named
	}
	return r.agents[anyAgent]
}
