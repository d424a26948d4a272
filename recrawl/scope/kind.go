package scope

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"recrawld/config"
	"recrawld/recrawl/canon"
)

// kind is a kind of leaf: which words of a Filter it is for, how they are tested, and how it is told of.
type kind struct {
	name    string
	misses  string // how a sentence begins that says no word matches
	words   func(config.Filter) []string
	compile func([]string) (func(canon.URL) int, error)
}

var kinds = []kind{
	{"scheme", "scheme is not", func(f config.Filter) []string { return f.Scheme }, exact(canon.URL.Scheme)},
	{"host", "host is not", func(f config.Filter) []string { return f.Host }, compileHosts},
	{"domain", "domain is not", func(f config.Filter) []string { return f.Domain }, compileDomains},
	{"path", "path does not begin with", func(f config.Filter) []string { return f.Path }, compilePaths},
	{"glob", "no match of glob", func(f config.Filter) []string { return f.Glob }, compileGlobs},
	{"regexp", "no match of regexp", func(f config.Filter) []string { return f.Regexp }, compileRegexps},
	{"param", "no param", func(f config.Filter) []string { return f.Param }, compileParams},
	{"extension", "extension is not", func(f config.Filter) []string { return f.Extension }, exact(extension)},
}

// exact tests whether a part of the URL is one of the words.
func exact(part func(canon.URL) string) func([]string) (func(canon.URL) int, error) {
	return func(words []string) (func(canon.URL) int, error) {
		index := indexed(words)
		return func(u canon.URL) int { return look(index, part(u)) }, nil
	}
}

// indexed is the first index of each word.
func indexed(words []string) map[string]int {
	index := make(map[string]int, len(words))
	for i, word := range slices.Backward(words) {
		index[word] = i
	}
	return index
}

func look(index map[string]int, word string) int {
	if i, ok := index[word]; ok {
		return i
	}
	return -1
}

// compileHosts brings names into A-labels, and compares a word that has a port with host and port.
func compileHosts(words []string) (func(canon.URL) int, error) {
	names := make(map[string]int)
	withPort := make(map[string][]int) // by name; the port is in words
	ports := make([]string, len(words))
	for i, word := range words {
		u, err := canon.Parse("http://" + word)
		if err != nil {
			return nil, err
		}
		parsed, err := url.Parse("http://" + word)
		if err != nil {
			return nil, fmt.Errorf("host %q: %w", word, err)
		}
		ports[i] = parsed.Port()
		if ports[i] != "" {
			withPort[u.Hostname()] = append(withPort[u.Hostname()], i)
		} else if _, twice := names[u.Hostname()]; !twice {
			names[u.Hostname()] = i
		}
	}
	return func(u canon.URL) int {
		for _, i := range withPort[u.Hostname()] {
			if ports[i] == portOf(u) {
				return i
			}
		}
		return look(names, u.Hostname())
	}, nil
}

// portOf is the port that is dialled.
func portOf(u canon.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme() == "https":
		return "443"
	}
	return "80"
}

// compileDomains looks the host up, then what is left of it after each dot.
func compileDomains(words []string) (func(canon.URL) int, error) {
	names := make([]string, len(words))
	for i, word := range words {
		u, err := canon.Parse("http://" + word)
		if err != nil {
			return nil, err
		}
		names[i] = u.Hostname()
	}
	index := indexed(names)
	return func(u canon.URL) int {
		for rest := u.Hostname(); rest != ""; _, rest, _ = strings.Cut(rest, ".") {
			if i := look(index, rest); i >= 0 {
				return i
			}
		}
		return -1
	}, nil
}

// compilePaths escapes the words as canonical URLs are, so that /straße/ matches.
func compilePaths(words []string) (func(canon.URL) int, error) {
	paths := make([]string, len(words))
	for i, word := range words {
		u, err := canon.Parse("http://localhost" + word)
		if err != nil {
			return nil, err
		}
		paths[i] = u.Path()
	}
	return func(u canon.URL) int {
		path := u.Path()
		return slices.IndexFunc(paths, func(p string) bool { return strings.HasPrefix(path, p) })
	}, nil
}

// glob is a pattern with what it begins and ends with: most URLs are turned down by these, and for most globs they
// are all there is to look at.
type glob struct {
	head, tail string
	pattern    *regexp.Regexp // nil where only a ** stands between head and tail
}

func compileGlobs(words []string) (func(canon.URL) int, error) {
	globs := make([]glob, len(words))
	for i, word := range words {
		pattern, err := config.CompileGlob(word)
		if err != nil {
			return nil, err
		}
		globs[i] = glob{pattern: pattern}
		first, last := strings.IndexAny(word, "*?"), strings.LastIndexAny(word, "*?")
		if first < 0 || strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 }) {
			continue // only the pattern knows how letters beyond ASCII are encoded
		}
		globs[i].head, globs[i].tail = word[:first], word[last+1:]
		if word[first:last+1] == "**" {
			globs[i].pattern = nil
		}
	}
	return func(u canon.URL) int {
		s := u.String()
		return slices.IndexFunc(globs, func(g glob) bool {
			return len(s) >= len(g.head)+len(g.tail) && strings.HasPrefix(s, g.head) && strings.HasSuffix(s, g.tail) &&
				(g.pattern == nil || g.pattern.MatchString(s))
		})
	}, nil
}

func compileRegexps(words []string) (func(canon.URL) int, error) {
	patterns := make([]*regexp.Regexp, len(words))
	for i, word := range words {
		pattern, err := regexp.Compile(word)
		if err != nil {
			return nil, err
		}
		patterns[i] = pattern
	}
	return func(u canon.URL) int {
		s := u.String()
		return slices.IndexFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(s) })
	}, nil
}

func compileParams(words []string) (func(canon.URL) int, error) {
	index := indexed(words)
	return func(u canon.URL) int {
		rest := u.Query()
		separator := config.ParamSeparator(rest)
		for rest != "" {
			var pair string
			pair, rest, _ = strings.Cut(rest, separator)
			name, _, _ := strings.Cut(pair, "=")
			if strings.ContainsAny(name, "%+") {
				if plain, err := url.QueryUnescape(name); err == nil {
					name = plain
				}
			}
			if i := look(index, name); i >= 0 {
				return i
			}
		}
		return -1
	}, nil
}

// extension is what follows the last dot of the last path segment, lower case; "" where there is none, or where the dot
// begins the segment, as in "/.well-known".
func extension(u canon.URL) string {
	path := u.Path()
	segment := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(segment, '.')
	if dot <= 0 {
		return ""
	}
	return strings.ToLower(segment[dot+1:])
}
