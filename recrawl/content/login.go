package content

import (
	"net/url"
	"slices"
	"strings"

	"recrawld/recrawl/canon"
)

// loginWords are what addresses of log-in forms are called, loginNames what they are called besides that is a part of other words.
var (
	loginWords = []string{"login", "log-in", "log_in", "logon", "signin", "sign-in", "sign_in", "anmelden", "anmeldung", "connexion"}
	loginNames = []string{"wp-login", "servicelogin", "sso"}

	// logoutWords are what addresses are called that end a log-in.
	logoutWords = []string{"logout", "log-out", "log_out", "logoff", "log-off", "log_off", "signout", "sign-out", "sign_out", "signoff", "sign-off", "sign_off", "abmelden", "abmeldung",
		"deconnexion", "cerrar-sesion", "wyloguj"}
)

// returnNames are how parameters begin in which a log-in is told where to send the reader on to. What is called url, page or path is not among
// them: a site that has moved its pages into a program says so there.
var returnNames = []string{"next", "return", "redirect", "rd", "back", "continue", "dest", "goto", "camefrom", "service", "target", "relaystate"}

// WantsLogin tells whether a redirect from one address to another sends the reader to log in first, for as long as he has to: to an address that is
// named for a log-in, that is asked to (by client_id and response_type, which OAuth 2.0 requires: RFC 6749, section 4.1.1; by SAMLRequest: SAML 2.0
// Bindings, section 3.4.4.1), or that is told in a parameter to lead back to where he came from. To a log-in itself there is none before.
func WantsLogin(from, to canon.URL) bool {
	if NamedLogin(from) || strings.TrimRight(from.Path(), "/") == strings.TrimRight(to.Path(), "/") && from.Origin() == to.Origin() {
		return false
	}
	return NamedLogin(to) || asksForLogin(to, from)
}

func asksForLogin(to, from canon.URL) bool {
	asked := map[string]bool{}
	for pair := range strings.SplitSeq(to.Query(), "&") {
		name, value, _ := strings.Cut(pair, "=")
		asked[name] = value != ""
		if value, err := url.QueryUnescape(value); err == nil && leadsBack(name, value, from) {
			return true
		}
	}
	return asked["client_id"] && asked["response_type"] || asked["SAMLRequest"]
}

// leadsBack tells whether a parameter says where to go on to, and that is where the reader came from.
func leadsBack(name, value string, from canon.URL) bool {
	name = strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(name))
	return slices.Contains([]string{from.String(), from.RequestURI(), from.Path()}, value) &&
		slices.ContainsFunc(returnNames, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// WithoutReturn is the address of a log-in without where it is told to lead back to, where that is the page with the link to it: there is one for each page
// otherwise, and all show the same form.
func WithoutReturn(from, to canon.URL) canon.URL {
	if to.Query() == "" || !NamedLogin(to) {
		return to
	}
	for _, param := range paramsOf(to.Query()) {
		name, value, _ := strings.Cut(param, "=")
		if value, err := url.QueryUnescape(value); err == nil && leadsBack(name, value, from) {
			to = without(to, name)
		}
	}
	return to
}

// NamedLogin tells whether an address is named for a log-in: by the last name of its path, whatever its extension, or the first of its host.
func NamedLogin(u canon.URL) bool {
	path, last := lastName(u)
	first, _, _ := strings.Cut(u.Hostname(), ".")
	return strings.HasSuffix(path, "/session/new") || strings.HasSuffix(path, "/sessions/new") || slices.ContainsFunc([]string{last, first}, func(name string) bool {
		return slices.Contains(loginWords, name) || slices.Contains(loginNames, name)
	})
}

// lastName is the path of an address in lower case, and the last name of it without its extension.
func lastName(u canon.URL) (path, last string) {
	path = strings.TrimRight(strings.ToLower(u.Path()), "/")
	last = path[strings.LastIndexByte(path, '/')+1:]
	if end := strings.IndexAny(last, ".;"); end >= 0 {
		last = last[:end]
	}
	return path, last
}

// NamedLogout tells whether an address is named for the end of a log-in: by the last name of its path, by a parameter, or by the value of one that says what
// is to be done (?action=logout).
func NamedLogout(u canon.URL) bool {
	_, last := lastName(u)
	if slices.Contains(logoutWords, last) {
		return true
	}
	for param := range strings.FieldsFuncSeq(strings.ToLower(u.Query()), func(c rune) bool { return c == '&' || c == ';' }) {
		name, value, _ := strings.Cut(param, "=")
		if slices.Contains(logoutWords, name) || verbs[name] && slices.Contains(logoutWords, value) {
			return true
		}
	}
	return false
}

// mayBeLogin tells whether any part of a path may be of a log-in: of a page that shows a log-in form and says so in its title.
func mayBeLogin(path string) bool {
	path = strings.ToLower(path)
	return containsAny(path, loginWords) || containsAny(path, []string{"account", "auth", "session"})
}
