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
	} {
		v := judgePages(t, page("Terms", append(story(5), test.from)...), page("Terms", append(story(5), test.to)...))
		if v.Kind != test.want {
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
