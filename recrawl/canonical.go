package recrawl

import (
	"net/http"

	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
)

// canonical is what a page names as its canonical URL, by its own link element or, where it has none, by a Link header
// (RFC 8288, RFC 6596); "" where it names none or itself.
func canonical(at, found canon.URL, header http.Header) string {
	if found.IsZero() {
		found = linkedCanonical(at, header)
	}
	if found.IsZero() || found == at {
		return ""
	}
	return found.String()
}

// linkedCanonical is the first target with the relation "canonical" among the Link headers.
func linkedCanonical(at canon.URL, header http.Header) canon.URL {
	for _, link := range extract.HeaderLinks(header.Values("Link")) {
		if !link.Relates("canonical") {
			continue
		}
		if u, err := at.Resolve(link.Target); err == nil {
			return u
		}
	}
	return canon.URL{}
}
