package content

import (
	"slices"
	"strings"

	"recrawld/recrawl/canon"
)

// loginWords are what addresses of log-in forms are called, loginNames what they are called besides that is a part of other words.
var (
	loginWords = []string{"login", "log-in", "log_in", "logon", "signin", "sign-in", "sign_in", "anmelden", "anmeldung", "connexion"}
	loginNames = []string{"wp-login", "servicelogin", "sso"}
)

// NamedLogin tells whether an address is named for a log-in: by the last name of its path, whatever its extension, or the first of its host.
func NamedLogin(u canon.URL) bool {
	path := strings.TrimRight(strings.ToLower(u.Path()), "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	if end := strings.IndexAny(last, ".;"); end >= 0 {
		last = last[:end]
	}
	first, _, _ := strings.Cut(u.Hostname(), ".")
	return slices.ContainsFunc([]string{last, first}, func(name string) bool {
		return slices.Contains(loginWords, name) || slices.Contains(loginNames, name)
	})
}

// mayBeLogin tells whether any part of a path may be of a log-in: of a page that shows a log-in form and says so in its title.
func mayBeLogin(path string) bool {
	path = strings.ToLower(path)
	return containsAny(path, loginWords) || containsAny(path, []string{"account", "auth", "session"})
}
