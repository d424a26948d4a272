package canon

import "strings"

// Sessionless is a URL without the session that programs write into each link for who sends no cookie: ;jsessionid=… behind the path,
// PHPSESSID=… in the query, by their names, and also, "name=value", which a page showed to be one (MaybeSession), or "". At the next visit it is
// another, so each visit to a page would find all others anew; without, the server begins one of its own.
func (u URL) Sessionless(also string) URL {
	at, query := sessionInPath(u.Path()), u.Query()
	if at < 0 && !hasSession(query, also) {
		return u
	}
	text := u.s[:u.query]
	if at >= 0 {
		text = u.s[:int(u.path)+at]
	}
	separator := "?"
	for param := range strings.SplitSeq(query, "&") {
		if param != "" && param != also && !isSession(param) {
			text += separator + param
			separator = "&"
		}
	}
	if bare, err := Parse(text); err == nil {
		return bare
	}
	return u
}

// hasSession tells whether a query has a parameter that Sessionless leaves out.
func hasSession(query, also string) bool {
	if len(query) < leastSession {
		return false
	}
	for param := range strings.SplitSeq(query, "&") {
		if param != "" && param == also || isSession(param) {
			return true
		}
	}
	return false
}

// leastSession is how many characters a session has at least.
const leastSession = 16

// sessions are the names of parameters that hold a session and nothing else, vague those that may hold what a page is of as well, such as a session of a
// conference (sessionId=1523456789012001abcd).
var (
	sessions = map[string]bool{"phpsessid": true, "jsessionid": true, "osessionid": true, "cgisessid": true, "oscsid": true, "zenid": true}
	vague    = map[string]bool{"s": true, "sid": true, "sessionid": true, "session_id": true}
)

// isSession tells a parameter that holds a session by its name.
func isSession(param string) bool {
	name, value, _ := strings.Cut(param, "=")
	if len(value) < leastSession || !isWord(value) {
		return false
	}
	name = strings.ToLower(name)
	return sessions[name] || len(name) == len("aspsessionid")+8 && strings.HasPrefix(name, "aspsessionid")
}

// MaybeSession tells a parameter that may be a session, "sid=", "s=" or the like with a digest: it is one where most links of a page share it.
func MaybeSession(param string) bool {
	name, value, _ := strings.Cut(param, "=")
	if len(value) < 24 || len(value) > 64 || !vague[strings.ToLower(name)] || !isWord(value) {
		return false
	}
	return strings.ContainsAny(value, "0123456789") && strings.Trim(value, "0123456789") != ""
}

// isWord tells what has letters and digits alone, and what servers put between them in a session.
func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlpha(c) && (c < '0' || c > '9') && c != '-' && c != ',' && c != '.' && c != '_' && c != '!' {
			return false
		}
	}
	return true
}

// sessionInPath is where a session begins in a path, -1 where there is none.
func sessionInPath(path string) int {
	at := strings.LastIndexByte(path, ';')
	if at < 0 || strings.IndexByte(path[at:], '/') >= 0 || !isSession(path[at+1:]) {
		return -1
	}
	return at
}

// Session is the parameter of a URL, "name=value", that is a session, or may be one, or what holds it behind the path; "": it has none.
func (u URL) Session() string {
	if at := sessionInPath(u.Path()); at >= 0 {
		return u.Path()[at+1:]
	}
	for param := range strings.SplitSeq(u.Query(), "&") {
		if isSession(param) || MaybeSession(param) {
			return param
		}
	}
	return ""
}
