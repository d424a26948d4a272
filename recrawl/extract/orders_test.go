package extract

import (
	"strings"
	"testing"
)

// TestOrders is of the links in the heading of a table that show it in another order.
func TestOrders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ at, page, want string }{
		"headings": {"/d/p", `<table><thead><tr><th><a href="?sort=name">Name</a></th><th><a href="/d/p?sort=size%3Adesc%2Cname">Size</a><th><a href="?orderBy=a&amp;dir=desc">A</a></tr></thead>
			<tr><td><a href="?id=1">1</a></table><a href=q>q</a>`, "p?sort=name order, p?sort=size%3Adesc%2Cname order, p?orderBy=a&dir=desc order, p?id=1, q"},
		"of a filtered list": {"/d/p?status=open&page=3", `<table><tr><th><a href="?status=open&sort=x">X</a><th><a href="?page=1;@sort=-y;status=open">Y</a>
			<th><a href="?status=closed&sort=x">Z</a><th><a href="?sort=x">no filter</a></table>`, "p?status=open&sort=x order, p?page=1;@sort=-y;status=open order, p?status=closed&sort=x, p?sort=x order"},
		"elsewhere, too": {"/d/p", `<a href="?sort=name">by name</a><table><tr><th><a href="?sort=name">Name</a></table><a href="?sort=size">by size</a><table><tr><th><a href="?sort=a">A</a><th><a href="?sort=b">B</a></table>
			<a href="?sort=a">by a</a><a href="/d/p?sort=b">by b</a>`, "p?sort=name, p?sort=size, p?sort=a, p?sort=b"},
		"another page": {"/d/p", `<table><tr><th><a href="q?sort=name">Name</a><th><a href="https://o/d/p?sort=name">Name</a></table>`, "q?sort=name, https://o/d/p?sort=name"},
		"no order":     {"/d/p", `<table><tr><th><a href="?page=2">next</a><th><a href="?view=all&sort=x">all</a><th><a href=p>p</a></table>`, "p?page=2, p?view=all&sort=x, p"},
		"pages of a list": {"/d/p", `<table><tr><th><a href="?sort=name&page=2">2</a> <a href="?sort=name&start=50">3</a><tr><th><a href="?sort=name&page=1">Name</a><th><a href="?sort=size&offset=">Size</a></table>`,
			"p?sort=name&page=2, p?sort=name&start=50, p?sort=name&page=1 order, p?sort=size&offset= order"},
		"what one is named by": {"/d/p", `<table><tr><th><a href="?order_id=5">5</a><th><a href="?orderNo=6">6</a><th><a href="?order=7012">7</a><th><a href="?resort=8">Spa</a><th><a href="?border=9">9</a><th><a href="?by=x">x</a><th><a href="?sortiment=x">x</a><th><a href="?order_type=x">x</a>
			<th><a href="?tableSort=x">X</a><th><a href="?filter_order_Dir=asc">Y</a><th><a href="?sortCol1=z">Z</a><th><a href="?q%5Bsort%5D=a&amp;order[b]=asc">B</a></table>`,
			"p?order_id=5, p?orderNo=6, p?order=7012, p?resort=8, p?border=9, p?by=x, p?sortiment=x, p?order_type=x, p?tableSort=x order, p?filter_order_Dir=asc order, p?sortCol1=z order, p?q%5Bsort%5D=a&order[b]=asc order"},
		"too much to look at": {"/d/p", `<table><tr><th><a href="?sort=` + strings.Repeat("&sort=", 32) + `">X</a></table>`, "p?sort=" + strings.Repeat("&sort=", 32)},
		"headings of rows":    {"/d/p", `<table><tr><th><a href="?order=1">1</a></th><td>10<tr><th><a href="?order=2">2</a><td>20</table>`, "p?order=1, p?order=2"},
		"behind the table":    {"/d/p", `<table><tr><th>Name</table><a href="?sort=name">by name</a>`, "p?sort=name"},
		"the end of headings": {"/d/p", `<table><tr><th>Name</th><a href="?sort=name">by name</a></table>`, "p?sort=name"},
	} {
		var list []string
		for _, u := range urls(Page([]byte(c.page), "text/html", mustParse(t, "https://h"+c.at), all).Links) {
			list = append(list, strings.Replace(strings.TrimPrefix(u, "https://h/d/"), " relative", "", 1))
		}
		if got := strings.Join(list, ", "); got != c.want {
			t.Errorf("%s: links\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
