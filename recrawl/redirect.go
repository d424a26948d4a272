package recrawl

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// maxHops is how many redirects in a row are followed.
const maxHops = 10

// isRedirect tells the statuses that name one other place to ask. 300, 305 and 306 do not.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// location is where a redirect leads. Several Location headers are believed when they agree. A user name and a password
// in it are dropped, as in every canonical URL.
func location(from canon.URL, header http.Header) (canon.URL, *classedError) {
	values := slices.Compact(slices.Clone(header.Values("Location")))
	if len(values) != 1 || values[0] == "" {
		return canon.URL{}, &classedError{models.RedirectBad, fmt.Errorf("redirect with %d targets", len(values))}
	}
	target, err := from.Resolve(values[0])
	switch {
	case errors.Is(err, canon.ErrScheme):
		return canon.URL{}, &classedError{models.RedirectBlocked, fmt.Errorf("redirect: %w", err)}
	case err != nil:
		return canon.URL{}, &classedError{models.RedirectBad, fmt.Errorf("redirect: %w", err)}
	}
	return target, nil
}

// redirectTarget is the page that a redirect leads to, zero where it names none, and what speaks against that. The target is not asked here: it
// becomes a page of its own, so that scope, robots.txt, politeness and the address guard apply to every hop.
func redirectTarget(g *guard, page *models.Page, from canon.URL, header http.Header) (canon.URL, *classedError) {
	target, bad := location(from, header)
	if bad == nil {
		bad = mayLead(g, page, from, target)
	}
	return target, bad
}

// mayLead says what speaks against a redirect from a page to another; nil: nothing.
func mayLead(g *guard, page *models.Page, from, target canon.URL) *classedError {
	id := models.PageID(target.String())
	switch {
	case target == from || slices.Contains(page.Chain, id):
		return &classedError{models.RedirectLoop, fmt.Errorf("redirect back to %s", target)}
	case len(page.Chain) >= maxHops:
		return &classedError{models.RedirectTooMany, fmt.Errorf("redirect after %d others", len(page.Chain))}
	}
	if err := g.checkLiteral(target); err != nil {
		return &classedError{models.RedirectBlocked, fmt.Errorf("redirect to %s: %w", target, err)}
	}
	return nil
}
