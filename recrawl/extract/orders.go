package extract

import (
	"net/url"
	"slices"
	"strings"

	"recrawld/recrawl/canon"
)

// heading follows whether a tag stands in the heading of a table's column. A row that has other cells, too, has a heading of its own.
func (r *reader) heading(element string) {
	switch element {
	case "th":
		r.inHeading = true
	case "td":
		r.inHeading = false
		r.refs.headsRow()
	case "tr", "table":
		r.inHeading = false
		r.refs.row = r.refs.row[:0]
	}
}

// headsRow takes back that the references of the present row stand in headings of columns.
func (r *refs) headsRow() {
	for _, i := range r.row {
		r.all[i].heading = false
	}
	r.row = r.row[:0]
}

// IsOrder tells whether a link of a page leads to it with no more in its query than in what order it shows what it does: sort=name, orderby=size&dir=desc.
// There are as many as columns, or, where one order is within another, as all of their arrangements.
func IsOrder(link, at canon.URL) bool {
	if link.Query() == "" || link.Path() != at.Path() || link.Origin() != at.Origin() {
		return false
	}
	separates := func(c rune) bool { return c == '&' || c == ';' }
	own, params, ordered := strings.FieldsFunc(at.Query(), separates), strings.FieldsFunc(link.Query(), separates), false
	if len(params) > mostOrdered {
		return false
	}
	for _, param := range params {
		name, value, _ := strings.Cut(param, "=")
		switch {
		case slices.Contains(own, param):
			ordered = ordered || NamesOrder(name, value)
		case NamesOrder(name, value):
			ordered = true
		case directions[strings.ToLower(name)], begins[strings.ToLower(name)] && first[value]:
		default:
			return false
		}
	}
	return ordered
}

// mostOrdered is how many parameters the link of a heading may have: each is looked for among the page's own.
const mostOrdered = 32

// NamesOrder tells the parameters that say by what a list is ordered: sort, orderby, filter_order, tableSort, but not order_id or resort. An order
// that has a number of three digits is what somebody ordered.
func NamesOrder(name, value string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	lower := strings.ToLower(name)
	if len(lower) != len(name) {
		return false // no name in ASCII
	}
	for word, behind := range orderings {
		at := strings.Index(lower, word)
		if at < 0 || at > 0 && isSmall(name[at-1]) && isSmall(name[at]) {
			continue // it is the end of another word
		}
		rest := lower[at+len(word):]
		array := strings.HasPrefix(rest, "[")
		rest = strings.TrimLeftFunc(rest, func(c rune) bool { return c < 'a' || c > 'z' })
		is := array || rest == "" || slices.ContainsFunc(behind, func(part string) bool { return strings.HasPrefix(rest, part) })
		if is && (word != "order" || len(value) < 3 || strings.Trim(value, "0123456789") != "") {
			return true
		}
	}
	return false
}

func isSmall(c byte) bool { return c >= 'a' && c <= 'z' }

// orderings are the words for an order, and how what may stand behind them in a name begins.
var orderings = map[string][]string{
	"sort":  {"asc", "by", "col", "desc", "dir", "ed", "field", "ing", "key", "mode", "on", "order", "type"},
	"order": {"asc", "by", "col", "desc", "dir", "ed", "field", "ing"},
}

// directions are the parameters that say which way an order goes. Those that say where a list begins may stand beside it where that is with its
// first page: further pages of a list may be known by links in a heading alone.
var (
	directions = map[string]bool{"asc": true, "by": true, "desc": true, "dir": true, "direction": true}
	begins     = map[string]bool{"offset": true, "page": true, "start": true}
	first      = map[string]bool{"": true, "0": true, "1": true}
)
