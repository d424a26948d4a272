package recrawl

import (
	"net/http"
	"slices"
	"strings"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// loginNames are what the addresses of log-in forms are called.
var loginNames = []string{"login", "log-in", "log_in", "logon", "signin", "sign-in", "sign_in", "wp-login", "servicelogin", "sso", "anmelden", "anmeldung",
	"connexion"}

// namedLogin tells whether an address is named for a log-in: by the last name of its path, whatever its extension, or the first of its host.
func namedLogin(u canon.URL) bool {
	path := strings.TrimRight(strings.ToLower(u.Path()), "/")
	last, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ".")
	first, _, _ := strings.Cut(u.Hostname(), ".")
	return slices.Contains(loginNames, last) || slices.Contains(loginNames, first)
}

// wantsLogin tells whether a page of which there is a copy is, for now, only shown to whoever logs in: it redirects to a log-in, which it is
// not. That is no place where it has moved to, from the first page on that does so: a log-in has expired. One that says it has moved for good
// has, and of a page that showed nothing yet it is all that is known.
func wantsLogin(page *models.Page, from, target canon.URL, status int) bool {
	lasting := status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
	return page.Version > 0 && !lasting && namedLogin(target) && !namedLogin(from)
}
