package extract

import (
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

// isOrder tells whether a link of a page leads to it with no more in its query than in what order it shows what it does: sort=name, orderby=size&dir=desc.
// There are as many as columns, or, where one order is within another, as all of their arrangements.
func isOrder(link, at canon.URL) bool {
	if link.Query() == "" || link.Path() != at.Path() || link.Origin() != at.Origin() {
		return false
	}
	separates := func(c rune) bool { return c == '&' || c == ';' }
	own, ordered := strings.FieldsFunc(at.Query(), separates), false
	for _, param := range strings.FieldsFunc(link.Query(), separates) {
		name, _, _ := strings.Cut(param, "=")
		name = strings.ToLower(name)
		switch {
		case strings.Contains(name, "sort"), strings.Contains(name, "order"):
			ordered = true
		case directions[name], slices.Contains(own, param):
		default:
			return false
		}
	}
	return ordered
}

// directions are the parameters that go with an order: which way, and that the list is shown from its beginning.
var directions = map[string]bool{"asc": true, "by": true, "desc": true, "dir": true, "direction": true, "offset": true, "page": true, "start": true}
