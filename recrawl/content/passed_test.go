package content

import (
	"testing"
	"time"
)

// TestTimeThatPassed holds that a line which says when something was by how long ago that is, or in how long, is no change when it says
// the same moment otherwise, and is one when it says another: tickets changed once each when their ages became dates.
func TestTimeThatPassed(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		when, err := time.Parse("2006-01-02 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, test := range []struct {
		held, now string
		from, to  string
		want      VerdictKind
	}{
		{"2026-11-26 10:00", "2026-11-27 10:00", `Updated <a href="/w">9 days ago</a>`, `Updated <a href="/w">2026-11-17</a>`, Noise},
		{"2026-11-26 10:00", "2026-12-20 10:00", "Updated 9 days ago by Jane Roe", "Updated on Nov 17, 2026 by Jane Roe", Noise},
		{"2026-11-26 10:00", "2026-12-20 10:00", "Opened 4 weeks ago, last reply 3 days ago", "Opened 29 October 2026, last reply 4 weeks ago", Noise},
		{"2026-11-26 10:00", "2026-12-20 10:00", `<time datetime="2026-10-05T10:00:00Z">7 weeks</time>, 2 replies`, `<time datetime="2026-10-05T10:00:00Z">Oct '26</time>, 2 replies`, Noise},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Posted yesterday at the harbour", "Posted on Wednesday, 25 November 2026 at the harbour", Noise},
		{"2026-11-26 10:00", "2026-12-26 10:00", "#1 Yesterday 18:52:58", "#1 2026-11-25 18:52:58", Noise},
		{"2026-11-26 10:00", "2026-12-26 10:00", "Last edited by Ben (Today at 08:34)", "Last edited by Ben (2026-11-26 at 08:34)", Noise},
		{"2026-11-26 10:00", "2026-12-26 10:00", "Last edited by Ben (Today 08:34)", "Last edited by Ben (2026-11-26 09:58)", Change},
		{"2026-11-26 10:00", "2026-12-26 10:00", "Last edited by Ben (Today 08:34)", "Last edited by Ben (2026-11-29 08:34)", Change},
		{"2026-11-26 10:00", "2026-12-26 10:00", "Opens today 08:34", "Opens 2026-11-26", Change},
		{"2026-11-26 10:00", "2026-12-26 10:00", "last reply 18h", "last reply Nov '26", Noise},
		{"2026-11-26 10:00", "2026-12-26 10:00", "last reply 18h", "last reply Dec '26", Change},
		{"2026-11-26 10:00", "2026-12-26 10:00", "last reply 7w", "last reply Oct '26", Noise},
		{"2026-11-26 10:00", "2027-01-03 10:00", "Posted 9 days ago", "Posted 17 Nov", Noise},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Released 9 days ago", "Released 2026-11-27", Change},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Released 9 days ago", "Released on 17 November 2025", Change},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Updated 9 days ago by Jane", "Updated 2026-11-17 by Max", Change},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Effective 17 November 2026", "Effective 20 November 2026", Change},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Effective 17 November 2026", "Effective 10 days ago", Change},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Due in 24 days (20 December 2026)", "Due in 23 days (20 December 2026)", Noise},
		{"2026-11-26 10:00", "2026-12-06 10:00", "Due in 24 days", "Due in 2 weeks", Noise},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Registration closes in about 1 month", "Registration closes in 28 days", Noise},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Only 24 days left until the harbour opens", "Only 23 days left until the harbour opens", Noise},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Due in 24 days", "Due in 22 days", Change},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Due in 24 days", "Due in 24 hours", Change},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Due in 24 days", "Due in 25 days", Change},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Delivery in 4 days", "Delivery in 3 days", Change},
		{"2026-11-26 10:00", "2026-11-27 14:00", `<span>76</span><div>Age (days ago)</div>`, `<span>78</span><div>Age (days ago)</div>`, Noise},
		{"2026-11-26 10:00", "2026-11-27 14:00", `<p>Days inactive</p><p>76</p>`, `<p>Days inactive</p><p>77</p>`, Noise},
		{"2026-11-26 10:00", "2026-11-27 14:00", `<span>76</span><div>Age (days ago)</div>`, `<span>0</span><div>Age (days ago)</div>`, Change},
		{"2026-11-26 10:00", "2026-11-27 14:00", `<p>Minimum age (years)</p><p>17</p>`, `<p>Minimum age (years)</p><p>18</p>`, Change},
		{"2026-11-26 10:00", "2026-12-26 10:00", `<p>Weeks old at least</p><p>8</p>`, `<p>Weeks old at least</p><p>12</p>`, Change},
		{"2026-11-26 10:00", "2026-11-27 14:00", `<span>76</span><div>Berths (days free)</div>`, `<span>77</span><div>Berths (days free)</div>`, Change},
		{"2026-11-26 10:00", "2026-11-27 10:00", "Due in 24 days, 3 tickets open", "Due in 23 days, 2 tickets open", Change},
	} {
		before, after := page("Tickets", append(story(5), test.from)...), page("Tickets", append(story(5), test.to)...)
		v := Judge(Case{Before: read(t, before), After: read(t, after), Threshold: threshold, Held: at(test.held), Now: at(test.now)})
		if v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}
