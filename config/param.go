package config

import "strings"

// ParamSeparator is what stands between the parameters of a query: "&", or ";" where a site writes so, as gitweb, old forums and Debian's bug
// tracker do ("p=x.git;a=tree;h=1a2b", "topic=5.0;all"). It is ";" only where no "&" stands in the query and each part begins with a plain name: a
// ";" anywhere else belongs to a value, as in "a=1&q=x;y" or "q=1;2".
func ParamSeparator(query string) string {
	if !strings.Contains(query, ";") || strings.Contains(query, "&") {
		return "&"
	}
	for part := range strings.SplitSeq(query, ";") {
		if name, _, _ := strings.Cut(part, "="); !plainParam(name) {
			return "&"
		}
	}
	return ";"
}

// plainParam tells whether a part of a query is a name that programs give to parameters.
func plainParam(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case i > 0 && ('0' <= c && c <= '9' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return name != ""
}
