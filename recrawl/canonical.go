package recrawl

import (
	"net/http"
	"strings"

	"recrawld/recrawl/canon"
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

// linkedCanonical is the first target with the relation "canonical" among the Link headers. A link that speaks of
// another page (anchor) is none of this one.
func linkedCanonical(at canon.URL, header http.Header) canon.URL {
	for _, value := range header.Values("Link") {
		for _, link := range splitLinks(value) {
			target, params, ok := strings.Cut(strings.TrimPrefix(link, "<"), ">")
			if !ok || !strings.HasPrefix(link, "<") || !relates(params, "canonical") {
				continue
			}
			if u, err := at.Resolve(target); err == nil {
				return u
			}
		}
	}
	return canon.URL{}
}

// splitLinks cuts a Link header before each target, so that commas within one, between the brackets, separate nothing.
func splitLinks(value string) []string {
	var links []string
	for value != "" {
		start := strings.IndexByte(value, '<')
		if start < 0 {
			break
		}
		value = value[start:]
		end := strings.IndexByte(value, '>')
		if end < 0 {
			break
		}
		next := strings.IndexByte(value[end:], '<')
		if next < 0 {
			next = len(value) - end
		}
		links = append(links, strings.TrimRight(value[:end+next], ", \t"))
		value = value[end+next:]
	}
	return links
}

// relates tells whether the parameters of a link give it a relation, and no anchor.
func relates(params, relation string) bool {
	found := false
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "anchor":
			return false
		case "rel":
			for word := range strings.FieldsSeq(value) {
				found = found || strings.EqualFold(word, relation)
			}
		}
	}
	return found
}
