package content

import (
	"fmt"
	"testing"
)

// TestHowOftenItWasLookedAt holds that views are no change of a list or a line of the main content, and that what stands beside them is one:
// each visit to a forum found a change of each topic, for the views of those that its page lists.
func TestHowOftenItWasLookedAt(t *testing.T) {
	t.Parallel()
	const row = `<tr><td><a href="/t/%d">Topic %d</a></td><td>%d</td><td>%s</td></tr>`
	list := func(head string, replies int, views ...string) string {
		s := `<table><thead><tr><th>Topic</th><th>Replies</th><th>` + head + `</th></tr></thead><tbody>`
		for i, n := range views {
			s += fmt.Sprintf(row, i, i, replies+i, n)
		}
		return s + `</tbody></table>`
	}
	for _, test := range []struct {
		from, to string
		want     VerdictKind
	}{
		{list("Views", 4, "278", "31", "2,124"), list("Views", 4, "303", "56", "2,149"), Noise},
		{list("Views", 4, "278", "31", "999"), list("Views", 4, "303", "56", "1.2k"), Noise},
		{list("Views", 4, "278", "31"), list("Views", 5, "303", "56"), Change},
		{list("Views", 4, "278", "31"), list("Views", 4, "303", "56", "2"), Change},
		{list("Stock", 4, "278", "31"), list("Stock", 4, "277", "30"), Change},
		{"created Oct '26 · last reply 18h · 4 replies · 3156 views · 10 likes", "created Oct '26 · last reply 1d · 4 replies · 3181 views · 10 likes", Noise},
		{"created Oct '26 · last reply 18h · 4 replies · 3156 views", "created Oct '26 · last reply 1h · 4 replies · closed · 3181 views", Change},
		{"The video of the harbour from 2024 was shown 3 times and has 3,156 views", "The video of the harbour from 2024 was shown 3 times and has 3,181 views", Noise},
		{"The video of the harbour from 2024 was shown 3 times and has 3,156 views", "The video of the harbour from 2024 was shown 3 times and has 56 views", Change},
		{"The video of the harbour from 2024 was shown 3 times and has 3,156 views", "The video of the harbour from 2025 was shown 3 times and has 3,181 views", Change},
		// How much its author has written by now stands beside each post of a forum: each new one was a change of all topics that he wrote in.
		{"Posts: 38", "Posts: 39", Noise},
		{"Posts: 999 Threads: 8 Joined: Nov 2026", "Posts: 1,000 Threads: 9 Joined: Nov 2026", Noise},
		{"Posts: 38", "Posts: 12", Change},
		{"Posts: 1", "Posts: 3", Noise},
		{"Cores: 4 Threads: 8", "Cores: 4 Threads: 16", Change},
		{"Themen: 12", "Themen: 13", Change},
		{"Messages: 1,000 a month", "Messages: 2,000 a month", Change},
		{"38 posts", "39 posts", Change},
		{"Posts: 38 Topics: 8", "Posts: 39 Topics: 9", Change},
		{"Posts: 98</p><p>Posts: 16</p><p>Posts: 97", "Posts: 99</p><p>Posts: 17</p><p>Posts: 98", Noise}, // where one has what another had
		{"Posts: 98</p><p>Posts: 16</p><p>Posts: 97", "Posts: 99</p><p>Posts: 40</p><p>Posts: 98", Change},
		{"Posts: 13</p><p>Posts: 15</p><p>Posts: 11", "Posts: 15</p><p>Posts: 17</p><p>Posts: 11", Noise}, // likewise, of what says 15 in both
		{"Posts: 13</p><p>Posts: 15</p><p>Posts: 11", "Posts: 15</p><p>Posts: 40</p><p>Posts: 11", Change},
		{"Posts: <a href=/ann>20</a></p><p>Posts: <a href=/ben>18</a>", "Posts: <a href=/ann>17</a></p><p>Posts: <a href=/ben>19</a>", Noise}, // one has more than the other now
		{"Posts: <a href=/ann>98</a></p><p>Posts: <a href=/ben>97</a>", "Posts: <a href=/ann>99</a></p><p>Posts: <a href=/ben>98</a>", Noise},
		{"Posts: 98</p><p>Threads: 18", "Posts: 95</p><p>Threads: 17", Noise}, // a topic was deleted
		{"Posts: 98</p><p>Threads: 2", "Posts: 95</p><p>Threads: 1", Noise},
		{"Posts: 98 Threads: 18", "Posts: 95 Threads: 17", Noise},
		{"Posts: 98</p><p>Threads: 18", "Posts: 99</p><p>Threads: 44", Change},
		{"Posts: 50</p><p>Threads: 12</p><p>Posts: 60</p><p>Threads: 3</p><p>Posts: 70</p><p>Threads: 13",
			"Posts: 51</p><p>Threads: 13</p><p>Posts: 61</p><p>Threads: 4</p><p>Posts: 71</p><p>Threads: 14", Noise},
		{"Messages: 5", "Messages: 3", Change},
		{"Posts: 98</p><p>I agree.</p><p>Offline", "Posts: 98</p><p>I agree.</p><p>Online", Noise}, // who wrote it is there just now
		{"Posts: 98</p><p>Hors ligne</p><p>Posts: 7</p><p>En ligne", "Posts: 99</p><p>En ligne</p><p>Posts: 7</p><p>Hors ligne", Noise},
		{"Mail</p><p>Online", "Mail</p><p>Offline", Change},
		{"Posts: 98</p><p>Mail</p><p>Online</p><p>Web</p><p>Online", "Posts: 98</p><p>Mail</p><p>Offline</p><p>Web</p><p>Online", Change},
		{"Posts: 98</p><p>Offline", "Posts: 98</p><p>Banned", Change},
		{"Threads: 18</p><p>Posts: 98", "Threads: 17</p><p>Posts: 98", Change},
	} {
		before, after := page("Forum", append(story(5), test.from)...), page("Forum", append(story(5), test.to)...)
		if v := judgePages(t, before, after); v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}

// TestWhatIsCounted holds what stands between a counter and its word, and what has such a word and counts what somebody set, or what a page is about.
func TestWhatIsCounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		want     VerdictKind
	}{
		{"You are visitor number 12,345", "You are visitor number 12,401", Noise},
		{"Visits today 12 total 12,345", "Visits today 40 total 12,401", Noise},
		{"Downloads last week: 123", "Downloads last week: 140", Noise},
		{"Downloads this month 123", "Downloads this month 140", Noise},
		{"Download count: 123", "Download count: 124", Noise},
		{"Download (123)", "Download (160)", Noise},
		{"Vues : 123", "Vues : 140", Noise},
		{"12 people online", "15 people online", Noise},
		{"120 people watching", "140 people watching", Noise},
		{"Followers 12,345 Following 12", "Followers 12,401 Following 12", Noise},
		{"We have 12 guests and no members online", "We have 40 guests and no members online", Noise},
		{"Visto 123 veces", "Visto 140 veces", Noise},
		{"Lượt xem: 123", "Lượt xem: 140", Noise},
		{"Page rendered in 0.12 seconds with 12 queries", "Page rendered in 0.34 seconds with 14 queries", Noise},
		{"Generated in 0.12 s", "Generated in 0.34 s", Noise},

		{"4 guests", "6 guests", Change},
		{"Sleeps 5 guests", "Sleeps 6 guests", Change},
		{"12 people", "13 people", Change},
		{"Windows Vista 7", "Windows Vista 8", Change},
		{"30 downloads a month", "50 downloads a month", Change},
		{"2 visits a week", "3 visits a week", Change},
		{"12 Besucher pro Tag", "15 Besucher pro Tag", Change},
		{"1000 followers needed", "5000 followers needed", Change},
		{"Capacity: 500 visitors", "Capacity: 600 visitors", Change},
		{"Quorum: 20 members", "Quorum: 22 members", Change},
		{"Visitors in 2025: 1.2 million", "Visitors in 2025: 1.4 million", Change},
		{"Besucher 2025: 1,200", "Besucher 2025: 1,400", Change},
		{"Your site built in 60 seconds", "Your site built in 30 seconds", Change},
		{"LLVM compiled in 400 seconds", "LLVM compiled in 300 seconds", Change},
		{"Rendered in 400 ms on an M3", "Rendered in 300 ms on an M3", Change},
	} {
		before, after := page("Manual", append(story(5), test.from)...), page("Manual", append(story(5), test.to)...)
		if v := judgePages(t, before, after); v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}
