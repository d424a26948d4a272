package robots

import (
	"cmp"
	"slices"
	"strings"
)

// rule is one allow or disallow line.
type rule struct {
	allow    bool
	anchored bool   // ends in "$"
	pattern  string // without that "$"
	length   int    // of the pattern as written: its priority
	line     int
	text     string // of that line
}

func newRule(allow bool, pattern string, at line) rule {
	r := rule{allow: allow, length: len(pattern), line: at.number, text: at.text}
	r.pattern, r.anchored = strings.CutSuffix(pattern, "$")
	return r
}

// beats tells whether r decides when both match.
func (r *rule) beats(other *rule) bool {
	return r.length > other.length || r.length == other.length && r.allow && !other.allow
}

// matches looks for the parts between the stars in order. Taking each at its first place is right for all but the last,
// which an anchor holds to the end of the path. The time is linear in path and pattern.
func (r *rule) matches(path string) bool {
	part, more, star := strings.Cut(r.pattern, "*")
	path, ok := strings.CutPrefix(path, part)
	if !ok {
		return false
	}
	if !star {
		return !r.anchored || path == ""
	}
	for {
		part, more, star = strings.Cut(more, "*")
		if !star {
			break
		}
		_, after, found := strings.Cut(path, part)
		if !found {
			return false
		}
		path = after
	}
	if r.anchored {
		return strings.HasSuffix(path, part)
	}
	return strings.Contains(path, part)
}

// sort puts the rules of each group into the order in which they win, so that the first that matches decides.
func (r *Rules) sort() {
	for _, g := range r.all {
		for i := range g.rules {
			g.stars += strings.Count(g.rules[i].pattern, "*")
		}
		slices.SortFunc(g.rules, func(a, b rule) int {
			if a.beats(&b) {
				return -1
			}
			if b.beats(&a) {
				return 1
			}
			return cmp.Compare(a.line, b.line)
		})
	}
}
