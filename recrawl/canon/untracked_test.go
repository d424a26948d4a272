package canon

import "testing"

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
