package content

import (
	"bytes"
	"net/url"
	"strings"

	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
)

// link says where a reference leads.
func (r *reader) link(ref string) Link {
	if l, ok := r.targets[ref]; ok {
		return l
	}
	l := linkOf(r.base, r.at, ref)
	r.targets[ref] = l
	return l
}

const (
	// maxTurning is how many pages before and after one has: by date, by thread and by author. Where more are marked so, the marks say nothing.
	maxTurning = 8
	// mostTurning is how many runes stand beside a link that turns the page, as "Previous message (by thread): ".
	mostTurning = 40
	// mostTurned is how many runes such a link has: a title, and the first sentence perhaps.
	mostTurned = 200
)

// anchor is a link of the block under way.
func (r *reader) anchor(attrs *attributes) {
	if attrs.href == "" {
		return
	}
	l := r.link(attrs.href)
	r.links = append(r.links, l)
	if attrs.turns && r.neighbour(l, false) || r.turning[l.Whole] {
		r.turned++
	}
}

// neighbour notes a link that is marked as one to the page before or after, in the head or where it stands, and tells whether it may be one: it
// leads to another page.
func (r *reader) neighbour(l Link, inHead bool) bool {
	if l.Target == "#" || l.Target == hiddenMail || !r.at.IsZero() && l.Whole == r.link(r.at.String()).Whole {
		return false
	}
	if head, known := r.turning[l.Whole]; known || len(r.turning) <= maxTurning {
		r.turning[l.Whole] = head || inHead
	}
	return true
}

// turns tells whether the block under way leads to the page before or after, and says hardly more.
func (r *reader) turns() bool {
	return r.turned > 0 && r.turned == len(r.links) && r.runes-r.inLinks <= mostTurning && r.inLinks <= mostTurned
}

// isTurning tells the link types of the page before or after this one in a series (HTML, 4.6.7.13 and 4.6.7.14; "previous" is older): what
// the link is called, mostly that page's title, says nothing of this one.
func isTurning(rel []byte) bool {
	for word := range bytes.FieldsSeq(rel) {
		if bytes.EqualFold(word, []byte("next")) || bytes.EqualFold(word, []byte("prev")) || bytes.EqualFold(word, []byte("previous")) {
			return true
		}
	}
	return false
}

// hiddenMail stands for every mail address that a CDN hides: it is encoded anew on each visit.
const hiddenMail = "mailto:"

// sourceForm stands for every form in which the source of a page is edited.
const sourceForm = "edit:"

// linkOf is where a reference found on the page at leads.
func linkOf(base, at canon.URL, ref string) Link {
	ref = strings.TrimSpace(ref)
	if len(ref) > canon.MaxBytes {
		ref = ref[:canon.MaxBytes]
	}
	switch {
	case strings.HasPrefix(ref, "#"):
		return Link{Target: "#", Whole: ref}
	case strings.Contains(ref, "/cdn-cgi/l/email-protection"):
		return Link{Target: hiddenMail, Whole: hiddenMail}
	}
	u, err := base.Resolve(ref)
	if err != nil {
		return unresolved(ref)
	}
	u, ref = behind(u, ref)
	_, fragment, _ := strings.Cut(ref, "#")
	whole := extract.Target(u)
	if !at.IsZero() && fragment != "" && whole == extract.Target(at) {
		return Link{Target: "#", Whole: "#" + fragment}
	}
	if editsSource(u.Path()) {
		return Link{Target: sourceForm, Whole: sourceForm}
	}
	if isHashed(fragment) {
		fragment = ""
	}
	line := fragment != "" && isLine(fragment, strings.Contains(u.Path(), "/src/"))
	if line {
		whole = withoutCommit(whole)
	}
	target, _, _ := strings.Cut(whole, "?")
	whole = u.Scheme() + "://" + whole
	if fragment != "" && !line {
		whole += "#" + fragment
	}
	return Link{Target: strings.TrimSuffix(target, "/"), Whole: whole}
}

// withoutCommit is the address of a line of a source whatever the commit: manuals name in each such link the one that they were made of. What is
// abbreviated may be the name of anything, and at the end of an address it is what the address is of: a paste.
func withoutCommit(address string) string {
	const fullHash = 40 // digits of a commit
	parts := strings.Split(address, "/")
	for i, part := range parts[:len(parts)-1] {
		if len(part) >= fullHash && isHex(part) {
			parts[i] = "0"
		}
	}
	return strings.Join(parts, "/")
}

// isLine tells whether a fragment is the line of a source, or its first and last: L12, l00012, n12, line.12, and 12 or 68-69 where the address
// says that it is one: elsewhere that may be a month. At each edit of the source it is another, for all that is defined below.
func isLine(fragment string, source bool) bool {
	first, last, many := strings.Cut(fragment, "-")
	named, ok := lineNumber(first)
	if many && ok {
		_, ok = lineNumber(last)
	}
	return ok && (named || source)
}

// lineNumber reads a number behind one of the names of lines, if any.
func lineNumber(s string) (named, ok bool) {
	number := s
	for _, name := range []string{"line.", "L", "l", "n"} {
		if rest, is := strings.CutPrefix(s, name); is {
			number, named = rest, true
			break
		}
	}
	ok = number != "" && strings.Trim(number, "0123456789") == ""
	return named, ok
}

// unresolved is a reference that is no web address, or a relative one on a page whose own address is not known.
func unresolved(ref string) Link {
	scheme, _, _ := strings.Cut(ref, ":")
	switch strings.ToLower(scheme) {
	case "javascript", "data", "blob", "about":
		return Link{Target: "#", Whole: "#"}
	}
	target, _, _ := strings.Cut(ref, "?")
	return Link{Target: target, Whole: ref}
}

// behind is the address that a counting redirect leads to, where the link says it: /l.php?u=https%3A%2F%2F…&h=…. What
// else such a link carries is made anew for each visit. A link with its target in a parameter and no others is an
// address as it stands: that of a form, of a translation, of a share button.
func behind(u canon.URL, ref string) (canon.URL, string) {
	query := u.Query()
	if !strings.Contains(query, "http") || !strings.Contains(query, "&") {
		return u, ref
	}
	for param := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(param, "=")
		switch name {
		case "u", "url", "q", "target", "to", "dest", "destination", "redirect", "redirect_url", "goto":
		default:
			continue
		}
		value, err := url.QueryUnescape(value)
		if err != nil || !strings.HasPrefix(value, "http") {
			continue
		}
		if inner, err := canon.Parse(value); err == nil {
			return inner, value
		}
	}
	return u, ref
}
