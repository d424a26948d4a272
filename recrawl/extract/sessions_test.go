package extract

import (
	"strings"
	"testing"
)

// TestSessions is of links with what a program writes into them for who sends no cookie, and of those that ask to do something.
func TestSessions(t *testing.T) {
	t.Parallel()
	const sid, other = "sid=8e02d65c0a279f970f3850c2e4a46ae4", "sid=ffffd65c0a279f970f3850c2e4a46ae4"
	for name, c := range map[string]struct{ at, page, want string }{
		"named":           {"/d/p", `<a href="a;jsessionid=0AAF3E1C9B77D102"><a href="b?PHPSESSID=4fo7d0h6tn8u0g6v5mgs5vsr6q&amp;id=5">`, "a, b?id=5"},
		"shared by pages": {"/d/p", `<a href="a?t=1&amp;` + sid + `"><a href="a?t=2&amp;` + sid + `#x"><a href="b?` + sid + `"><a href="c?` + sid + `">`, "a?t=1, a?t=2, b, c"},
		"behind another":  {"/d/p?" + other, `<a href="a?` + sid + `"><a href="b?` + sid + `"><a href="c?` + sid + `">`, "a, b, c"},
		"of one page":     {"/d/p", `<a href="a?t=1&amp;` + sid + `"><a href="a?t=2&amp;` + sid + `"><a href="b?` + other + `">`, "a?t=1&" + sid + ", a?t=2&" + sid + ", b?" + other},
		"of things": {"/d/p", `<a href="view?` + sid + `"><a href="load?` + sid + `"><a href="note?` + sid + `"><a href="view?` + other + `"><a href="load?` + other + `"><a href="note?` + other + `">`,
			"view?" + sid + ", load?" + sid + ", note?" + sid + ", view?" + other + ", load?" + other + ", note?" + other},
		"of one thing":         {"/d/p", `<a href="view?` + sid + `"><a href="load?` + sid + `">`, "view?" + sid + ", load?" + sid},
		"behind a written one": {"/d/p", `<a href="t?id=5&amp;` + other + `"><a href="a?` + sid + `"><a href="b?` + sid + `"><a href="c?` + sid + `">`, "t?id=5&" + other + ", a, b, c"},
		"of a conference": {"/d/p", `<a href="talk?sessionId=1523456789012001abcd"><a href="talk?session_id=550e8400-e29b-41d4-a716-446655440000">`,
			"talk?sessionId=1523456789012001abcd, talk?session_id=550e8400-e29b-41d4-a716-446655440000"},
		"by another name":    {"/d/p", `<a href="a?session_id=8e02d65c0a279f970f3850c2e4a46ae4"><a href="b?session_id=8e02d65c0a279f970f3850c2e4a46ae4"><a href="c?session_id=8e02d65c0a279f970f3850c2e4a46ae4">`, "a, b, c"},
		"of the page itself": {"/d/p?" + sid, `<a href="a?` + sid + `"><a href="b?` + sid + `">`, "a?" + sid + ", b?" + sid},
		"a page's own path":  {"/d/p;jsessionid=0AAF3E1C9B77D102", `<a href="a;jsessionid=0AAF3E1C9B77D102"><a href="b;jsessionid=1AAF3E1C9B77D102">`, "a;jsessionid=0AAF3E1C9B77D102, b"},
		"names":              {"/d/p", `<a href="a?sid=12"><a href="b?sid=12"><a href="a?sid=holiday-pictures-from-norway"><a href="b?sid=holiday-pictures-from-norway">`, "a?sid=12, b?sid=12, a?sid=holiday-pictures-from-norway, b?sid=holiday-pictures-from-norway"},
		"tokens": {"/d/p", `<a href="rate?id=1&amp;my_post_key=5451dae1545507f23b6e0fabc3d33071"><a href="a?_wpnonce=5451dae154"><a href="b?x=1;CSRFToken=5451dae154"><a href="m?action=logout&amp;logoutkey=7c17e499bc">
			<a href="c?task=out&amp;5451dae1545507f23b6e0fabc3d33071=1">`, "rate?id=1&my_post_key=5451dae1545507f23b6e0fabc3d33071 action, a?_wpnonce=5451dae154 action, b?x=1;CSRFToken=5451dae154 action, m?action=logout&logoutkey=7c17e499bc action, c?task=out&5451dae1545507f23b6e0fabc3d33071=1 action"},
		"no tokens": {"/d/p", `<a href="a?_token=1"><a href="b?token=5451dae1545507f23b6e0fabc3d33071"><a href="c?announce=5451dae1545"><a href="d?5451dae1545507f23b6e0fabc3d33071">`,
			"a?_token=1, b?token=5451dae1545507f23b6e0fabc3d33071, c?announce=5451dae1545, d?5451dae1545507f23b6e0fabc3d33071"},
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
