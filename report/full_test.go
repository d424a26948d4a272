package report

import (
	"fmt"
	"strings"
	"testing"

	"recrawld/models"
)

// A site is full where there is no room for another requisite, and stays so until there is some for a hundredth of what it may have.
func TestFindFull(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		has     models.SiteRequisites
		was, is bool
	}{
		{models.SiteRequisites{}, false, false}, {models.SiteRequisites{}, true, false},
		{models.SiteRequisites{Pages: 7, Kept: 9_999}, false, false}, {models.SiteRequisites{Pages: 7, Kept: 9_999}, true, true},
		{models.SiteRequisites{Pages: 7, Kept: 9_901}, true, true}, {models.SiteRequisites{Pages: 7, Kept: 9_900}, true, false},
		{models.SiteRequisites{Pages: 7, Kept: 10_000}, false, true}, {models.SiteRequisites{Pages: 101, Kept: 10_000}, false, false},
	} {
		u, is := FindFull(3, c.has, nil, c.was)
		if is != c.is || is && (u.Site != 3 || u.Kind != Requisites || !strings.Contains(u.Words, " requisites for 7 pages: no new ones are kept; requisites_filter ")) {
			t.Errorf("%+v, full before %v: %v, %+v, want %v", c.has, c.was, is, u, c.is)
		}
	}
	u, _ := FindFull(3, models.SiteRequisites{Pages: 1, Kept: 9_000, Resting: 10_000}, nil, false)
	if !strings.HasPrefix(u.Words, "19,000 requisites (10,000 of them gone or excluded) for 1 page: ") {
		t.Errorf("of a site with former requisites is said %s", u.Words)
	}
}

// The way out is a filter of the parameter that most of what was not kept has, another in each.
func TestWayOutOfRequisites(t *testing.T) {
	t.Parallel()
	urls := func(n int, query string) (all []string) {
		for i := range n {
			all = append(all, "https://a.example/style.css"+strings.ReplaceAll(query, "N", fmt.Sprint(i)))
		}
		return all
	}
	const cb = "{ not: { param: [cb] } } leaves out those whose query has cb, as "
	for _, c := range []struct {
		refused []string
		want    string
	}{
		{nil, "whose query has no cb"},
		{urls(9, "?cb=N"), "; the last that was not kept is https://a.example/style.css?cb=8"},
		{urls(10, "?cb=N"), cb + "10 of the last 10 "},
		{urls(50, "?v=1&cb=N"), cb + "50 of the last 50 "}, // all have v as well, and the same
		{append(urls(10, ""), urls(40, "?cb=N")...), cb + "40 of the last 50 "},
		{append(urls(11, ""), urls(39, "?cb=N")...), "; the last that was not kept is "},
		{urls(50, "?cb=1"), "; the last that was not kept is "},
		{urls(50, "?x%5D%7D=N"), "; the last that was not kept is "}, // which would mean something else in a configuration
		{urls(50, "?%zz=N"), "; the last that was not kept is "},
	} {
		if got := wayOut(c.refused); !strings.Contains(got, c.want) {
			t.Errorf("the way out is %q, want %q in it", got, c.want)
		}
	}
}
