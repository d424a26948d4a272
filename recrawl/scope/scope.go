// Package scope decides which URLs belong to a site and are kept: by the site's start URL and prefixes, its limits
// against traps, and its filter. It is pure, and each verdict names the rule that made it.
package scope

import (
	"fmt"
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/recrawl/canon"
)

// Scope is a site's rules, ready to decide. It does not change and is safe for concurrent use.
type Scope struct {
	start canon.URL

	// prefixes are, by host without a leading "www.", paths, with query where the prefix has one. They hold for http and
	// https, which serve the same pages.
	prefixes map[string][]string

	anywhere bool // every URL is inside

	inside  string // the sentence for a URL that nothing speaks against
	outside string
	limits  config.Settings
	filter  *rule // nil: keeps everything

	requisites *rule  // what the filter of requisites keeps; nil: everything
	needed     string // the sentence for a requisite that nothing speaks against
	elsewhere  string // for one on a host that is none of the site's
}

// Anywhere stands in a site's scope for all hosts.
const Anywhere = "*"

// Verdict is what the rules say about a URL.
type Verdict struct {
	Keep bool
	Rule string // the rule that decided, for a person: "filter line 23: not extension jpg", "outside https://example.org/"

	Needed bool // kept as a requisite alone (DecideKnown): Decide would leave it out
}

// Compile prepares the rules of a site. The site's own prefix is the directory of its start URL, on the same host with
// or without a leading "www." and by http or https; the prefixes of its scope setting are read in the same way, as they
// are written, and Anywhere among them lets every URL in. It is an error if a URL is not one or a pattern of the filter does not compile, which config has checked
// for what it has loaded.
func Compile(site config.Site) (*Scope, error) {
	start, err := canon.Parse(site.URL)
	if err != nil {
		return nil, fmt.Errorf("compile scope of site %s: %w", site.Name, err)
	}
	s := &Scope{start: start, limits: site.Settings, prefixes: make(map[string][]string)}
	directory, err := canon.Parse(start.Directory())
	if err != nil {
		return nil, fmt.Errorf("compile scope of site %s: %w", site.Name, err)
	}
	s.add(directory)
	names := []string{directory.String()}
	for _, text := range site.Settings.Scope {
		if text == Anywhere {
			s.anywhere = true
			continue
		}
		u, err := canon.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("compile scope of site %s: %w", site.Name, err)
		}
		s.add(u)
		names = append(names, u.String())
	}
	if s.anywhere {
		names = []string{"a scope of all hosts"}
	}
	s.inside, s.outside = "inside "+some(names, "or"), "outside "+some(names, "and")
	if filter := site.Settings.Filter; !filter.IsZero() {
		if s.filter, err = compile(filter, false); err != nil {
			return nil, fmt.Errorf("compile filter of site %s: %w", site.Name, err)
		}
	}
	if err := s.compileRequisites(site); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Scope) add(u canon.URL) {
	host := bareHost(u)
	s.prefixes[host] = append(s.prefixes[host], u.RequestURI())
}

// bareHost is the host name without the "www." that many a site answers with and without.
func bareHost(u canon.URL) string {
	name := u.HostName()
	if bare, ok := strings.CutPrefix(name, "www."); ok && strings.Contains(bare, ".") {
		return bare
	}
	return name
}

// Decide says whether a URL that is level links away from the start URL is kept. The start URL itself always is: a
// filter for what lies below it need not name it.
func (s *Scope) Decide(u canon.URL, level int) Verdict {
	switch {
	case u.IsZero():
		return Verdict{Rule: "not a URL"}
	case u == s.start:
		return Verdict{Keep: true, Rule: "the start URL"}
	case !s.Contains(u):
		return Verdict{Rule: s.outside}
	case level > s.limits.Level:
		return Verdict{Rule: fmt.Sprintf("level %d is beyond %d", level, s.limits.Level)}
	}
	if trap := s.trap(u); trap != "" {
		return Verdict{Rule: trap}
	}
	if s.filter == nil {
		return Verdict{Keep: true, Rule: s.inside}
	}
	keep, sentence := s.filter.decide(u)
	return Verdict{Keep: keep, Rule: sentence}
}

// Contains tells whether a URL lies below one of the site's prefixes, whatever its limits and filter say.
func (s *Scope) Contains(u canon.URL) bool {
	if s.anywhere {
		return true
	}
	rest := u.RequestURI()
	return slices.ContainsFunc(s.prefixes[bareHost(u)], func(p string) bool { return strings.HasPrefix(rest, p) })
}

// trap tells a URL that a server seems to make up: links relative to themselves grow for ever or repeat a segment, and a listing of a
// directory leads to itself in every other order. What stands before the first slash of the path and after the last, if nothing does, is no segment; between two slashes it is.
func (s *Scope) trap(u canon.URL) string {
	if n := len(u.String()); n > s.limits.URLLength {
		return fmt.Sprintf("URL of %d bytes is longer than %d", n, s.limits.URLLength)
	}
	if isListingOrder(u.Query()) {
		return "a listing of a directory in another order"
	}
	path := strings.TrimPrefix(u.Path(), "/")
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		return ""
	}
	if n := 1 + strings.Count(path, "/"); n > s.limits.Segments {
		return fmt.Sprintf("%d path segments are more than %d", n, s.limits.Segments)
	} else if n <= s.limits.Repeats {
		return ""
	}
	if segment, n := commonest(path); n > s.limits.Repeats {
		return fmt.Sprintf("segment %s stands %d times in the path, more than %d", shown(segment), n, s.limits.Repeats)
	}
	return ""
}

// isListingOrder tells the query by which Apache's mod_autoindex sorts a listing, as nginx's fancyindex does: a column (name, modified,
// size, description) and a direction, as "C=M;O=A".
func isListingOrder(query string) bool {
	return len(query) == len("C=M;O=A") && query[:2] == "C=" && strings.IndexByte("NMSD", query[2]) >= 0 &&
		(query[3] == ';' || query[3] == '&') && query[4:6] == "O=" && (query[6] == 'A' || query[6] == 'D')
}

// commonest is the segment that stands most often in a path, and how often. Comparing all pairs needs no memory and is
// faster than a map for paths as they are; a limit of 1000 segments can be configured, and then the map wins.
func commonest(path string) (string, int) {
	if strings.Count(path, "/") > 40 {
		return commonestByMap(path)
	}
	best, most := "", 0
	for rest, more := path, true; more; {
		var segment, other string
		segment, rest, more = strings.Cut(rest, "/")
		n := 1
		for left, again := rest, more; again; {
			other, left, again = strings.Cut(left, "/")
			if other == segment {
				n++
			}
		}
		if n > most {
			best, most = segment, n
		}
	}
	return best, most
}

func commonestByMap(path string) (string, int) {
	counts := map[string]int{}
	best, most := "", 0
	for segment := range strings.SplitSeq(path, "/") {
		counts[segment]++
		if counts[segment] > most {
			best, most = segment, counts[segment]
		}
	}
	return best, most
}

// some lists words for a sentence, the first three of many.
func some(words []string, last string) string {
	const most = 3
	if len(words) > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" %s %d more", last, len(words)-most)
	}
	head, tail := words[:len(words)-1], words[len(words)-1]
	if len(head) == 0 {
		return tail
	}
	return strings.Join(head, ", ") + " " + last + " " + tail
}

// shown keeps a word of a sentence short and visible. URLs are ASCII, so bytes can be cut.
func shown(word string) string {
	const most = 80
	switch {
	case word == "":
		return `""`
	case len(word) > most:
		return word[:most] + "…"
	}
	return word
}
