package content

import (
	"fmt"
	"testing"
)

// TestAges holds that how long ago something was makes no change of a line, whatever links and names stand beside it, where the line says
// that it is an age or has the date of it in an attribute: each ticket of a tracker changed day by day for that.
func TestAges(t *testing.T) {
	t.Parallel()
	const added = `Added by <a href="/users/1">Jane Roe</a> <a title="11/05/2026 07:12 PM" href="/activity?from=2026-11-05">%s</a> ago. Updated <a href="/a">%s</a> ago.`
	for _, test := range []struct {
		from, to string
		want     VerdictKind
	}{
		{fmt.Sprintf(added, "about 1 month", "4 days"), fmt.Sprintf(added, "about 2 months", "5 days"), Noise},
		{fmt.Sprintf(added, "less than a minute", "1 year"), fmt.Sprintf(added, "2 minutes", "over 1 year"), Noise},
		{`<a href="/w">Vor etwa 3 Stunden von Jane Roe geändert</a>`, `<a href="/w">Vor 2 Tagen von Jane Roe geändert</a>`, Noise},
		{`<a href="/w">Modifié il y a environ 3 heures par Jane</a>`, `<a href="/w">Modifié il y a 2 jours par Jane</a>`, Noise},
		{`<span class="age-hours" title="2026-11-05 19:12:00 +0000">23 hours</span>`, `<span class="age-days" title="2026-11-05 19:12:00 +0000">4 days</span>`, Noise},
		{`Activity: <time datetime="2026-11-05T19:12:00Z">3 weeks</time>, 2 replies`, `Activity: <time datetime="2026-11-05T19:12:00Z">2 months</time>, 2 replies`, Noise},
		{`<span>3 days ago</span><a href="/c/14">Change 14</a>`, `<span>4 days ago</span><a href="/c/14">Change 14</a>`, Noise},
		{`<a href="/c/14">Change 14</a><em>3 days ago</em>`, `<a href="/c/14">Change 14</a><em>2 weeks ago</em>`, Noise},
		{`<time datetime="2026-11-05">3 days</time><a href="/c/14">Change 14</a>`, `<time datetime="2026-11-05">2 weeks</time><a href="/c/14">Change 14</a>`, Noise},
		{`<a href="/c/14">Change 14</a><span>3 days ago</span>`, `<a href="/c/14">Change 15</a><span>4 days ago</span>`, Change},
		{fmt.Sprintf(added, "about 1 month", "4 days") + " Status: open", fmt.Sprintf(added, "about 2 months", "5 days") + " Status: shut", Change},
		{`Closed <a href="/a">4 days ago</a> after 3 weeks of work`, `Closed <a href="/a">5 days ago</a> after 4 weeks of work`, Change},
		{`<span title="2026-11-05">Delivery within 3 days</span>`, `<span title="2026-11-05">Delivery within 4 days</span>`, Change},
		{`<span title="How long it takes">4 days</span>`, `<span title="How long it takes">5 days</span>`, Change},
		{`We began 4 days ago`, `We began 5 weeks before`, Change},
	} {
		before, after := page("Tickets", append(story(5), test.from)...), page("Tickets", append(story(5), test.to)...)
		if v := judgePages(t, before, after); v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}

// TestWhatAPageWasBuiltFrom holds that a commit makes no change of a page that says nothing else of it, as generators sign their pages.
func TestWhatAPageWasBuiltFrom(t *testing.T) {
	t.Parallel()
	const one, other = "3f2a9c1d0e12b7c8a9d0f1e2c3b4a5968778695a", "12e9905aa0c1d2e3f4051627384950617283940b"
	const linked = `Built from commit <a href="https://git.example.org/marlin/commit/%s">%s</a> on %s.`
	for _, test := range []struct {
		from, to string
		want     VerdictKind
	}{
		{"Built from " + one[:7], "Built from " + other[:7], Noise},
		{"Built from 1234567", "Built from " + other[:7], Noise},
		{"Marlin book, generated with mkbook from " + one, "Marlin book, generated with mkbook from " + other, Noise},
		{fmt.Sprintf(linked, one, one[:8], "2026-11-30"), fmt.Sprintf(linked, other, other[:8], "2026-12-01"), Noise},
		{"Built from 1234567", "Built from 7654321", Change},
		{"Built from " + one[:7] + " for Marlin 1.2", "Built from " + other[:7] + " for Marlin 1.3", Change},
		{"Built from " + one[:7] + " on 30 Nov 2026", "Built from " + other[:7] + " on 1 Dec 2026", Noise},
		{"Revision: " + one[:12] + ".", "Revision: " + other[:12] + ".", Noise},
		{"Last commit " + one[:8] + " (30 Nov 2026)", "Last commit " + other[:8] + " (1 Dec 2026)", Noise},
		{"Built from v1.2-14-g" + one[:7], "Built from v1.2-15-g" + other[:7] + "-dirty", Noise},
		{"Built from v1.2", "Built from v1.2-1-g" + other[:7], Noise},
		{"Built from 1.2.dev14+g" + one[:9], "Built from 1.2.dev15+g" + other[:9] + ".d20261130", Noise},
		{"Built from v1.2-14-g" + one[:7], "Built from v1.3-2-g" + other[:7], Change},
		{"Built from v1.2-14-g" + one[:7], "Built from v1.3", Change},
		{"Requires v1.2-14-g" + one[:7], "Requires v1.2-15-g" + other[:7], Change},
		{"It is pinned to commit " + one[:8], "It is pinned to commit " + other[:8], Change},
		{"SHA-1: " + one, "SHA-1: " + other, Change},
		{`Built: <a href="/nightly/marlin-` + one[:7] + `.tar.gz">` + one[:7] + `</a>`, `Built: <a href="/nightly/marlin-` + other[:7] + `.tar.gz">` + other[:7] + `</a>`, Change},
		{"Built by feedbac in 2020", "Built by deedbac in 2020", Change},
	} {
		before, after := page("Manual", append(story(5), test.from)...), page("Manual", append(story(5), test.to)...)
		if v := judgePages(t, before, after); v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}
