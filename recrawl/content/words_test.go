package content

import (
	"fmt"
	"strings"
	"testing"

	"recrawld/recrawl/canon"
)

// TestPricesAreNoCountersAndNoAges holds that words which stand beside counters and ages do not make one of a price.
func TestPricesAreNoCountersAndNoAges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		want     VerdictKind
	}{
		{"Precio y envío: 25 €", "Precio y envío: 30 €", Change},
		{"Casa y jardín 10", "Sol y playa 5", Change},
		{"Vor Ort 12 Termine", "Vor Ort 14 Termine", Change},
		{"Share price: 45.20", "Share price: 39.10", Change},
		{"Members 10 €", "Members 12 €", Change},
		{"Online: USD 25", "Online: USD 30", Change},
		{"Stars 4 %", "Stars 5 %", Change},
		{"Online: 25", "Online: 30", Noise},
		{"10 members", "12 members", Noise},
		{"il y a 3 jours", "il y a 5 jours", Noise},
		{"vor 3 Tagen", "vor 2 Wochen", Noise},
		{"hace 3 días", "hace 4 días", Noise},
		{"3 days ago", "2 weeks ago", Noise},
		{"By <a href=/ida>Ida Berg</a>, 3 days ago, in <a href=/tags/law>Law</a>", "By <a href=/ida>Ida Berg</a>, 4 days ago, in <a href=/tags/law>Law</a>", Noise},
		{"<a href=/2>What courts say of terms that nobody reads</a> yesterday", "<a href=/2>What courts say of terms that nobody reads</a> 2 days ago", Noise},
		{"<a href=/2>What courts say of terms</a> vor einem Jahr", "<a href=/2>What courts say of terms</a> vor 2 Jahren", Noise},
		{"Posted by Ida Berg about 23 hours ago, 18 comments", "Posted by Ida Berg 1 day ago, 19 comments", Noise},
		{"<a href=/2>Ce que disent les juges</a> aujourd’hui", "<a href=/2>Ce que disent les juges</a> il y a 2 jours", Noise},
		{"By Ida Berg, 3 days ago, for 10 €", "By Ida Berg, 4 days ago, for 12 €", Change},
		{"By <a href=/ida>Ida Berg</a>, 3 days ago", "By <a href=/tom>Ida Berg</a>, 4 days ago", Change},
		{"Within 3 days of the order", "Within 4 days of the order", Change},
		{"What is sent back within 30 days", "What is sent back today", Change},
	} {
		v := judgePages(t, page("Terms", append(story(5), test.from)...), page("Terms", append(story(5), test.to)...))
		if v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}

// TestCountersInTheFooter holds that what a footer counts beside the year is a counter, also where its short page is all that there is to read.
func TestCountersInTheFooter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		want     VerdictKind
	}{
		{"© 2026 Tools Ltd. All rights reserved. 18,245 visits so far.", "© 2026 Tools Ltd. All rights reserved. 18,384 visits so far.", Noise},
		{"© 2026 Tools Ltd. All rights reserved. Visitors: 18245", "© 2026 Tools Ltd. All rights reserved. Visitors: 18384", Noise},
		{"© 2026 Tools Ltd. All rights reserved. Call 555 1245 for visits.", "© 2026 Tools Ltd. All rights reserved. Call 555 1384 for visits.", Change},
		{"© 2026 Tools Ltd. All rights reserved. A ticket for 12 visits is 80 €.", "© 2026 Tools Ltd. All rights reserved. A ticket for 10 visits is 80 €.", Change},
	} {
		of := func(footer string) *View {
			return read(t, "<title>About</title><div><header><a href=/>Tools Ltd</a> <a href=/all>All that we have</a></header><main><p>"+prose+"</p></main><footer><p>"+footer+"</p></footer></div>")
		}
		if v := Judge(Case{Before: of(test.from), After: of(test.to), Threshold: threshold, Now: noon}); v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}

// TestClocksTakeLinearTime judges two pages with many clocks in one place among many lines; for each clock all lines were
// looked at, which took minutes.
func TestClocksTakeLinearTime(t *testing.T) {
	t.Parallel()
	of := func(second int) *View {
		var b strings.Builder
		for i := range 240 {
			fmt.Fprintf(&b, "<p>%02d:%02d:%02d", i/60, i%60, second)
		}
		return Read([]byte("<main>"+b.String()+strings.Repeat("<p>one of the lines that are nearly a clock: 12:30:15", 30_000)), "text/html", canon.URL{}, nil)
	}
	if v := Judge(Case{Before: of(1), After: of(2), Threshold: threshold, Now: noon}); v.Kind != Noise {
		t.Errorf("other clocks are %v for %v", v.Kind, v.Reasons)
	}
}
