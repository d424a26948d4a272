package extract

import (
	"slices"
	"strings"

	"recrawld/recrawl/canon"
)

// sharing is how many pages links lead to that share a session at least: of one thing there may be two, such as to see it and to have it.
const sharing = 3

// session is the parameter, "sid=…", that is a session by what the page shows: most of its links with a query share it, to several pages. Programs write
// a session into all of their links, and what people wrote into a post may have another. An ID of each thing in a list is none, of which one stands
// in a few. "": there is none.
func (r *refs) session() string {
	most, votes := "", 0
	for _, param := range r.maySession { // what more than half of them have is left (Boyer and Moore, MJRTY, 1981)
		switch {
		case votes == 0:
			most, votes = param, 1
		case param == most:
			votes++
		default:
			votes--
		}
	}
	if most == "" {
		return ""
	}
	var paths []string
	have, all := 0, 0
	for path, param := range r.maySession {
		if all++; param == most {
			have++
			if len(paths) < sharing && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	if 2*have > all && len(paths) == sharing {
		return most
	}
	return ""
}

// maySession gives of each link with a query that a reader can follow its path as it is written, and the parameter that may be a session, "": none.
func (r *refs) maySession(yield func(path, param string) bool) {
	for i := range r.all {
		path, query, asks := strings.Cut(r.all[i].text, "?")
		if !asks || !r.all[i].read {
			continue
		}
		query, _, _ = strings.Cut(query, "#")
		param := ""
		for one := range strings.SplitSeq(query, "&") {
			if canon.MaybeSession(one) {
				param = one
				break
			}
		}
		if !yield(path, param) {
			return
		}
	}
}

// untracked is where a link leads without who came (canon.URL.Untracked). A page that answers at an address with a session alone is known by
// that, and so are those that it leads to with the same one.
func untracked(u canon.URL, own, session string) canon.URL {
	if own != "" && strings.Contains(u.String(), own) {
		return u
	}
	return u.Sessionless(session).Untracked()
}

// isAction tells whether a URL has a token against forged requests: it asks to do something, such as to rate or to log out, and the token is
// another at each visit, so each would find it anew.
func isAction(u canon.URL) bool {
	query := u.Query()
	if query == "" {
		return false
	}
	for param := range strings.FieldsFuncSeq(query, func(c rune) bool { return c == '&' || c == ';' }) {
		if name, value, _ := strings.Cut(param, "="); isToken(name, value) {
			return true
		}
	}
	return false
}

// isToken tells the parameters that hold such a token, by the names that programs give them. Joomla has its value for the name.
func isToken(name, value string) bool {
	if len(name) == 32 && value == "1" && strings.Trim(name, "0123456789abcdef") == "" {
		return true
	}
	if len(value) < leastToken || len(name) > maxSession {
		return false
	}
	name = strings.ToLower(name)
	return tokens[name] || strings.Contains(name, "csrf") || strings.Contains(name, "xsrf") || strings.HasSuffix(name, "nonce")
}

// leastToken is the length of the shortest such token, that of DokuWiki or WordPress being 10 or more.
const leastToken = 8

var tokens = map[string]bool{"__form_token": true, "__requestverificationtoken": true, "_token": true, "authenticity_token": true, "form_key": true,
	"form_token": true, "formhash": true, "logouthash": true, "logoutkey": true, "my_post_key": true, "sectok": true, "securitytoken": true, "sesskey": true, "static_token": true}
