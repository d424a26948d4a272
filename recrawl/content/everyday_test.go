package content

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// everyday is a page with what a page has; %[1]s and so on are what differs.
func everyday(from, to string) string {
	body := `<html><head><title>Shop – prices</title><meta name=csrf content=aaaa1111></head><body>
<header><a href=/>Home</a> <a href=/cart>Cart (0)</a></header><nav><a href=/1>One</a><a href=/2>Two</a><a href=/3>Three</a></nav>
<main><h1>What things cost here</h1><p class=meta>Published by Jane Roe, 3 June 2024</p>
<p>We have sold garden tools since 1970, and each of them comes with a guarantee of 24 months on all its parts.</p>
<h2>Delivery</h2><p>Parcels leave our store within 3 days. See <a href="/terms/delivery">the terms of delivery</a> for what else holds.</p>
<p>Returns are free for two weeks from the day on which you have the parcel in your hands, whatever the reason is.</p>
<table><tr><th>Tool</th><th>Price</th></tr><tr><td>Spade</td><td>€ 17.50</td></tr><tr><td>Rake of steel</td><td>€ 12.00</td></tr></table>
<ul><li>Open from Monday to Friday</li><li>Friday: 9:00–17:00</li><li>Opens at 9:15</li><li>12:30 On platform 4</li><li>Closed on bank holidays</li></ul>
<p>Marlin 1.14.1 is the newest version.</p><p>A spade of two hands weighs 12 pounds</p>
<table><tr class=t><td>20:45</td></tr><tr class=t><td>22:15</td></tr><tr class=t><td>23:10</td></tr></table>
<p class=stamp>Posted 3 minutes ago</p><p class=views>1,234 views</p><p class=now>14:05:09</p>
<form action=/ask><input type=hidden name=csrf value=tok0001><input name=q></form>
<img src="/img/spade.png?v=1"><a href="/buy?utm_source=a1">Buy it now from us</a></main>
<aside class=ads><p>Cheap flights to Rome, book now with Air Nowhere</p></aside>
<div class=sidebar><ul><li><a href=/t/1>Ten best spades</a></li><li><a href=/t/2>How to dig a hole</a></li><li><a href=/t/3>Soil and you</a></li></ul></div>
<script nonce=n1>var t=1700000000;</script><footer><p>© 2026 Tools Ltd</p><p>Rendered in 12 ms</p></footer></body></html>`
	if from != "" && !strings.Contains(body, from) {
		panic(from)
	}
	return strings.Replace(body, from, to, 1)
}

// everydayChange is one place of the page that reads otherwise.
type everydayChange struct {
	from, to string
	counts   bool
}

var everydayChanges = map[string]everydayChange{
	"a link that leads elsewhere":  {"/terms/delivery", "/terms/shipping", true},
	"a heading":                    {"<h2>Delivery</h2>", "<h2>Shipping</h2>", true},
	"the first heading":            {"What things cost here", "What things cost there", true},
	"a number in a sentence":       {"within 3 days", "within 5 days", true},
	"a number in the middle":       {"24 months", "36 months", true},
	"a price in a table":           {"€ 17.50", "€ 18.50", true},
	"a row of a table":             {"<tr><td>Rake", "<tr><td>Hoe</td><td>€ 9.00</td></tr><tr><td>Rake", true},
	"a row less":                   {"<tr><td>Rake of steel</td><td>€ 12.00</td></tr>", "", true},
	"a word":                       {"are free", "are not free", true},
	"a paragraph more":             {"<table>", "<p>From today on we deliver to islands too, at no other price.</p><table>", true},
	"an entry of a list":           {"<ul><li>Open", "<ul><li>Late on Thursday</li><li>Open", true},
	"a version":                    {"1.14.1", "1.14.2", true},
	"pounds":                       {"12 pounds", "14 pounds", true},
	"hours of opening":             {"Friday: 9:00–17:00", "Friday: 9:00–18:00", true},
	"an hour":                      {"Opens at 9:15", "Opens at 10:15", true},
	"a departure":                  {"12:30 On platform 4", "12:30 Cancelled", true},
	"a timetable":                  {"<td>20:45</td>", "<td>21:00</td>", true},
	"a date of publication":        {"3 June 2024", "4 June 2024", true},
	"a link more":                  {"what else holds", `<a href="/x">what else holds</a>`, true},
	"a clock":                      {"14:05:09", "15:17:44", false},
	"an age":                       {"3 minutes ago", "2 hours ago", false},
	"a counter of views":           {"1,234 views", "1,301 views", false},
	"a token in a form":            {"tok0001", "tok0002", false},
	"a token in the head":          {"aaaa1111", "bbbb2222", false},
	"a nonce and a time in script": {"nonce=n1>var t=1700000000", "nonce=n2>var t=1700000999", false},
	"the order of teasers":         {"<li><a href=/t/1>Ten best spades</a></li><li><a href=/t/2>How to dig a hole</a></li>", "<li><a href=/t/2>How to dig a hole</a></li><li><a href=/t/1>Ten best spades</a></li>", false},
	"other teasers":                {"<a href=/t/2>How to dig a hole</a>", "<a href=/t/9>Gloves for all seasons</a>", false},
	"an advertisement":             {"Cheap flights to Rome, book now with Air Nowhere", "A car for the price of a spade, only today", false},
	"the advertisement is gone":    {"<p>Cheap flights to Rome, book now with Air Nowhere</p>", "", false},
	"the cart":                     {"Cart (0)", "Cart (1)", false},
	"the year in the footer":       {"© 2026", "© 2027", false},
	"the time of rendering":        {"Rendered in 12 ms", "Rendered in 17 ms", false},
	"tracking of a link":           {"utm_source=a1", "utm_source=b2", false},
	"the version of a picture":     {"spade.png?v=1", "spade.png?v=2", false},
	"a comment in the mark-up":     {"</body>", "<!-- web-07 --></body>", false},
}

// TestEverydayChanges holds what counts by default, of a page never compared before and of one that was for ten days.
func TestEverydayChanges(t *testing.T) {
	t.Parallel()
	for name, test := range everydayChanges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask := func(before, after *View, memory *PageMemory, host *HostMemory, day int) {
				v := Judge(Case{Before: before, After: after, Page: memory, Host: host, Threshold: threshold, PageID: 1,
					Now: noon.Add(time.Duration(day) * 24 * time.Hour), Records: int32(day)})
				if (v.Kind == Change) != test.counts || (v.Significance >= threshold) != test.counts || v.Kind == Transient {
					t.Errorf("day %d: %v for %v of %v, want it to count: %v", day, v.Kind, v.Reasons, v.Significance, test.counts)
				}
			}
			held := everyday("", "")
			ask(read(t, held), read(t, everyday(test.from, test.to)), &PageMemory{}, &HostMemory{}, 2)
			memory, host := &PageMemory{}, &HostMemory{}
			noisy := func(markup string, n int) *View { // what differs on each visit by its nature
				return read(t, strings.NewReplacer("14:05:09", fmt.Sprintf("14:%02d:09", n), "1,234 views", fmt.Sprintf("1,%d views", 234+n),
					"3 minutes", fmt.Sprintf("%d minutes", n+3), "Air Nowhere", fmt.Sprintf("Air %c", 'A'+n),
					"tok0001", fmt.Sprintf("tok%d", n), "Rendered in 12", fmt.Sprintf("Rendered in %d", n)).Replace(markup))
			}
			before := noisy(held, 0)
			for n := 1; n <= 10; n++ {
				after := noisy(held, n)
				if v := Judge(Case{Before: before, After: after, Page: memory, Host: host, Threshold: threshold, PageID: 1,
					Now: noon.Add(time.Duration(n) * 24 * time.Hour), Records: int32(n + 1)}); v.Kind != Noise {
					t.Fatalf("day %d without a change: %v for %v of %v", n, v.Kind, v.Reasons, v.Significance)
				}
				before = after
			}
			ask(before, noisy(everyday(test.from, test.to), 11), memory, host, 12)
		})
	}
}
