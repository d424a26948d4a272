package canon

import "testing"

func TestUntracked(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://h/a?utm_source=rss&utm_medium=feed": "https://h/a", "https://h/a?id=1&UTM_Source=x&b=%20": "https://h/a?id=1&b=%20",
		"https://h/a?fbclid": "https://h/a", "https://h/a?mc_cid=1&&c": "https://h/a?&c", "https://h/a?": "https://h/a?", "https://h/a": "https://h/a",
		"https://h/a?source=rss&utm=1&phpsessid=2": "https://h/a?source=rss&utm=1&phpsessid=2",
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
