package config

import (
	"regexp"
	"strings"
)

// plainParam is the name of a parameter which means itself in a configuration, and which programs give to parameters.
var plainParam = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,39}$`)

// PlainParam tells whether the name of a parameter means itself in a configuration.
func PlainParam(name string) bool { return plainParam.MatchString(name) }

// ParamSeparator is what stands between the parameters of a query: "&", or ";" where a site writes so, as gitweb, old forums and Debian's bug
// tracker do ("p=x.git;a=tree;h=1a2b", "topic=5.0;all"). It is ";" only where no "&" stands in the query and each part begins with a plain name: a
// ";" anywhere else belongs to a value, as in "a=1&q=x;y" or "q=1;2". "q=red;blue" may be either, and is read as two parameters.
func ParamSeparator(query string) string {
	if !strings.Contains(query, ";") || strings.Contains(query, "&") {
		return "&"
	}
	for part := range strings.SplitSeq(query, ";") {
		if name, _, _ := strings.Cut(part, "="); !PlainParam(name) {
			return "&"
		}
	}
	return ";"
}
