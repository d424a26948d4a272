package robots

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// builder turns lines into groups.
type builder struct {
	rules  *Rules
	group  *group
	closed bool // a rule has followed the group's user-agent lines: the next user-agent line begins a group
}

// line is one line of the file, numbered from 1.
type line struct {
	number int
	text   string
}

// line reads one line. Directives are told by their beginning, as Google does, with the misspellings it takes.
func (b *builder) line(at line) {
	key, value, ok := keyAndValue(at.text)
	switch {
	case !ok:
	case hasPrefixFold(key, "user-agent", "useragent", "user agent"):
		b.userAgent(value)
	case hasPrefixFold(key, "allow"):
		b.allow(escapePattern(value), at)
	case hasPrefixFold(key, "disallow", "dissallow", "dissalow", "disalow", "diaslow", "diasllow", "disallaw"):
		b.add(false, escapePattern(value), at)
	case hasPrefixFold(key, "sitemap", "site-map"):
		b.sitemap(value)
	case strings.EqualFold(key, "crawl-delay"):
		b.crawlDelay(value)
	}
}

// userAgent adds an agent to the group, or begins one.
func (b *builder) userAgent(value string) {
	if b.group == nil || b.closed {
		b.group, b.closed = &group{}, false
		b.rules.all = append(b.rules.all, b.group)
	}
	token := productToken(value)
	named := b.rules.agents[token]
	if len(named) == 0 || named[len(named)-1] != b.group {
		b.rules.agents[token] = append(named, b.group)
	}
}

// allow adds a rule. A rule for a directory's index page is one for the directory as well, as Google reads it.
func (b *builder) allow(pattern string, at line) {
	b.add(true, pattern, at)
	if slash := strings.LastIndexByte(pattern, '/'); slash >= 0 && strings.HasPrefix(pattern[slash:], "/index.htm") {
		b.add(true, pattern[:slash+1]+"$", at)
	}
}

// add keeps a rule. An empty one matches nothing, but ends the user-agent lines of its group.
func (b *builder) add(allow bool, pattern string, at line) {
	if b.group == nil {
		return
	}
	b.closed = true
	if pattern != "" {
		b.group.rules = append(b.group.rules, newRule(allow, pattern, at))
	}
}

// sitemap keeps a sitemap; it belongs to no group.
func (b *builder) sitemap(value string) {
	if value != "" && len(b.rules.sitemaps) < MaxSitemaps && !slices.Contains(b.rules.sitemaps, value) {
		b.rules.sitemaps = append(b.rules.sitemaps, value)
	}
}

// crawlDelay is of the group, though RFC 9309 does not know it. It does not end a group's user-agent lines.
func (b *builder) crawlDelay(value string) {
	if b.group == nil {
		return
	}
	if delay, ok := parseDelay(value); ok {
		b.group.delay, b.group.hasDelay = max(b.group.delay, delay), true
	}
}

// parseDelay reads a decimal number of seconds. Signs, exponents and units are not numbers here.
func parseDelay(value string) (time.Duration, bool) {
	if strings.Trim(value, "0123456789.") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil && seconds == 0 {
		return 0, false
	}
	if seconds >= MaxDelay.Seconds() {
		return MaxDelay, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// productToken is what a user-agent line names: lower case, up to the first byte that no token holds, so that
// "Foo/1.0" is "foo"; or anyAgent.
func productToken(value string) string {
	if value == anyAgent || len(value) > 1 && value[0] == '*' && strings.IndexByte(" \t\n\v\f\r\x85\xa0", value[1]) >= 0 {
		return anyAgent
	}
	end := strings.IndexFunc(value, func(r rune) bool { return !isToken(r) })
	if end >= 0 {
		value = value[:end]
	}
	if value == anyAgent {
		return "" // "*/1.0" names no agent
	}
	return strings.ToLower(value)
}

func isToken(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("~#$%'*+-.^_`|", r)
}
