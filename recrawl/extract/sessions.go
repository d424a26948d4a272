package extract

import (
	"strings"

	"recrawld/recrawl/canon"
)

// session is the parameter, "sid=…", that is a session by what the page shows: links to two pages share it. "": there is none.
func (r *refs) session() string {
	param, path := "", ""
	for i := range r.all {
		at, query, asks := strings.Cut(r.all[i].text, "?")
		if !asks || !r.all[i].read {
			continue
		}
		query, _, _ = strings.Cut(query, "#")
		for one := range strings.SplitSeq(query, "&") {
			switch {
			case !canon.MaybeSession(one):
			case param == one && path != at:
				return param
			case param == "":
				param, path = one, at
			}
		}
	}
	return ""
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
	"form_token": true, "formhash": true, "my_post_key": true, "sectok": true, "securitytoken": true, "sesskey": true, "static_token": true}
