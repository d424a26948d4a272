package extract

import (
	"slices"
	"strings"
)

// HeaderLink is a link of a Link header (RFC 8288).
type HeaderLink struct {
	Target      string   // as written
	Relations   []string // in lower case
	ImageSrcset string   // the imagesrcset of a preloaded image
}

// HeaderLinks are the links of the page itself in the values of its Link headers. A link that speaks of another page (anchor) is none.
func HeaderLinks(values []string) []HeaderLink {
	var links []HeaderLink
	for _, value := range values {
		for _, one := range splitLinks(value) {
			target, params, ok := strings.Cut(strings.TrimPrefix(one, "<"), ">")
			if !ok {
				continue
			}
			if link, own := ownLink(strings.TrimSpace(target), params); own {
				links = append(links, link)
			}
		}
	}
	return links
}

// Relates tells whether a link has a relation, which is in lower case.
func (l *HeaderLink) Relates(relation string) bool { return slices.Contains(l.Relations, relation) }

// needed tells whether a browser follows the link to show the page.
func (l *HeaderLink) needed() bool {
	return slices.ContainsFunc(l.Relations, func(r string) bool { return fetched[r] })
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

// ownLink reads the parameters of a link; it tells whether it has no anchor.
func ownLink(target, params string) (link HeaderLink, own bool) {
	link.Target = target
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "anchor":
			return link, false
		case "rel":
			link.Relations = append(link.Relations, strings.Fields(strings.ToLower(value))...)
		case "imagesrcset":
			link.ImageSrcset = value
		}
	}
	return link, true
}

// linked takes what the Link headers of a page at a URL name: they lead from there, whatever base the page has.
func (n *needs) linked(r *reader) {
	if n == nil {
		return
	}
	for _, link := range HeaderLinks(r.options.Linked) {
		if !link.needed() {
			continue
		}
		for _, ref := range append(srcset(link.ImageSrcset), link.Target) {
			if u, err := r.at.Resolve(ref); err == nil && ref != "" {
				n.add(u.String())
			}
		}
	}
}
