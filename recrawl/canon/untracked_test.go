package canon

import "testing"

// TestSessions is of what programs write into links for who sends no cookie.
func TestSessions(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://h/a?PHPSESSID=4fo7d0h6tn8u0g6v5mgs5vsr6q": "https://h/a", "https://h/a?phpsessid=8e02d65c0a279f970f3850c2e4a46ae4&topic=1.0;x": "https://h/a?topic=1.0;x",
		"https://h/a?b=1&osCsid=8e02d65c0a279f970f3850c2e4a46ae4&": "https://h/a?b=1", "https://h/a?ASPSESSIONIDQQABCDEF=KLMNOPQRSTUVWXYZKLMNOPQR": "https://h/a",
		"https://h/b/a.do;jsessionid=0AAF3E1C9B77D102.node-1?c=2&utm_source=x": "https://h/b/a.do?c=2", "https://h/;JSESSIONID=0123456789ABCDEF": "https://h/",
		"https://h/a?sig=1&JSESSIONID=0123456789ABCDEF": "https://h/a?sig=1",
		// What is short or within the path names a page, and whether sid is a session no URL alone tells.
		"https://h/a?zenid=12": "https://h/a?zenid=12", "https://h/a?sessionid=1523456789012001abcd": "https://h/a?sessionid=1523456789012001abcd", "https://h/a;jsessionid=0123456789ABCDEF/b": "https://h/a;jsessionid=0123456789ABCDEF/b",
		"https://h/a;v=0123456789ABCDEF": "https://h/a;v=0123456789ABCDEF", "https://h/a?sid=8e02d65c0a279f970f3850c2e4a46ae4": "https://h/a?sid=8e02d65c0a279f970f3850c2e4a46ae4",
	} {
		u, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Untracked(); got.String() != want || got.Untracked() != got {
			t.Errorf("%s untracked: %s, want %s", raw, got, want)
		}
	}
}

func TestUntracked(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://h/a?utm_source=rss&utm_medium=feed": "https://h/a", "https://h/a?id=1&UTM_Source=x&b=%20": "https://h/a?id=1&b=%20",
		"https://h/a?fbclid": "https://h/a", "https://h/a?mc_cid=1&&c": "https://h/a?&c", "https://h/a?": "https://h/a?", "https://h/a": "https://h/a",
		"https://h/a?source=rss&utm=1&phpsessid=2": "https://h/a?source=rss&utm=1&phpsessid=2",
		// What a place on a map is, behind a semicolon, or part of what a signature holds for, is more than a campaign.
		"https://h/a?utm_zone=32&utm_x=5&mtm_id=1": "https://h/a?utm_zone=32&utm_x=5&mtm_id=1", "https://h/a?utm_source=rss;id=5": "https://h/a?utm_source=rss;id=5",
		"https://h/a?utm_source=x&X-Amz-Signature=1f": "https://h/a?utm_source=x&X-Amz-Signature=1f", "https://h/a?sig=1&gclid=2": "https://h/a?sig=1&gclid=2",
		"https://h/a?utm_source=x&s=d41d8cd98f00b204e9800998ecf8427e": "https://h/a?utm_source=x&s=d41d8cd98f00b204e9800998ecf8427e",
		"https://h/?s=utm&utm_source=x&signed=1":                      "https://h/?s=utm&signed=1",
	} {
		u, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Untracked(); got.String() != want || got.Untracked() != got {
			t.Errorf("%s untracked: %s, want %s", raw, got, want)
		}
	}
}
