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
	} {
		before, after := page("Forum", append(story(5), test.from)...), page("Forum", append(story(5), test.to)...)
		if v := judgePages(t, before, after); v.Kind != test.want {
			t.Errorf("%q -> %q is %v for %v, want %v", test.from, test.to, v.Kind, v.Reasons, test.want)
		}
	}
}
