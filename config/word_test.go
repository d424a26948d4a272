package config

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseWindow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"22:00-06:00 Europe/Berlin":        "22:00-06:00 Europe/Berlin",
		"  mon-fri   08:00-18:00  UTC ":    "Mon-Fri 08:00-18:00 UTC",
		"Sat,Sun 00:00-24:00 UTC":          "Sat-Sun 00:00-24:00 UTC",
		"Fri-Mon 00:00-24:00 UTC":          "Mon,Fri-Sun 00:00-24:00 UTC",
		"Wed 10:30-10:31 America/New_York": "Wed 10:30-10:31 America/New_York",
		"Sun,Tue,Thu-Fri 01:00-02:00 UTC":  "Tue,Thu-Fri,Sun 01:00-02:00 UTC",
		"Mon-Sun 01:00-02:00 UTC":          "01:00-02:00 UTC",
	} {
		w, err := ParseWindow(text)
		if err != nil || w.String() != want || w.check() != nil {
			t.Errorf("ParseWindow(%q) = %s, %v, want %s", text, w, err, want)
		}
	}
	w, err := ParseWindow("Sat 22:15-06:00 UTC")
	want := Window{From: 22*time.Hour + 15*time.Minute, To: 6 * time.Hour, Days: [7]bool{time.Saturday: true}, Zone: time.UTC}
	if err != nil || w != want {
		t.Errorf("ParseWindow = %+v, %v, want %+v", w, err, want)
	}
}

func TestWindowReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		minute := rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 24*60-1).Draw(t, "minute")) * time.Minute
		})
		w := Window{From: minute.Draw(t, "from"), To: minute.Draw(t, "to"), Zone: time.UTC}
		for d := range w.Days {
			w.Days[d] = rapid.Bool().Draw(t, "day")
		}
		if w.check() != nil {
			t.Skip("not a window")
		}
		if got, err := ParseWindow(w.String()); err != nil || got != w {
			t.Errorf("%s is read as %s, %v", w, got, err)
		}
	})
}

func TestCheckCycle(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"6h", "1m", "366d", "1d12h", "0 */6 * * *", "@daily", "@every 6h", "CRON_TZ=Europe/Berlin 0 3 * * Mon", "0 0 29 2 *", "* * * * *"} {
		if err := checkCycle(good); err != nil {
			t.Errorf("checkCycle(%q) = %v", good, err)
		}
	}
	for _, bad := range []string{"", "6", "59s", "367d", "daily", "@fortnightly", "@every 1s", "@every x", "0 */6 * *", "0 0 30 2 *", "TZ=UTC", "CRON_TZ= ", "TZ=Nowhere/At 0 0 * * *", "61 * * * *", "   "} {
		if err := checkCycle(bad); err == nil {
			t.Errorf("checkCycle(%q) gives no error", bad)
		}
	}
}

func TestCheckWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		check func(string) error
		good  []string
		bad   []string
	}{
		{"token", checkToken, []string{"recrawld", "My-Bot_x"}, []string{"", "a b", "bot/1", "bot1", "bö", "*"}},
		{"contact", checkContact, []string{"", "me@example.net", "https://example.net/bot"}, []string{"me", "Me <me@example.net>", "mailto:me@example.net", "mailto:", "me@example.net\r\nX: y", "/bot"}},
		{"callback", checkCallback, []string{"off", "https://crawler.example.net/websub/", "https://example.net/", "https://example.net:8443/a/b/", "http://127.0.0.1:8686/websub/"},
			[]string{"", "on", "https://example.net", "https://example.net/websub", "http://example.net/websub/", "https://example.net/?a/", "https://example.net/#/", "https://u@example.net/",
				"https://example.net/" + strings.Repeat("x", 200) + "/", "ftp://example.net/"}},
		{"URL", checkURL, []string{"https://example.org", "http://[::1]:8080/x?y", "HTTP://EXAMPLE.ORG/"}, []string{"", "example.org", "//example.org/", "http:///x", "http://u@example.org/", "file:///etc/passwd", "http://exa mple.org/", "http:x", "mailto:a@b"}},
		{"listen", checkListen, []string{"off", "127.0.0.1:0", "localhost:80", "[::1]:8686"}, []string{"", "127.0.0.1", ":8080", "0.0.0.0:1", "[::]:1", "127.0.0.1:x", "127.0.0.1:65536", "example.org:80"}},
		{"name", checkName, []string{"docs", "127.0.0.1:8080", "[::1]:80", "größe"}, []string{"", "a b", "a/b", "../x", ".hidden", "a\tb", "a\x00", `a"b`}},
		{"worker", checkWorker, []string{"vm-0", "Db_1.east", strings.Repeat("w", 100)}, []string{"", "a:b", "größe", "a b", "a/b", ".hidden", "w#1", strings.Repeat("w", 101)}},
		{"host", checkHost, []string{"example.org", "example.org:8080", "[::1]", "münchen.de", "EXAMPLE.org"}, []string{"", "*.example.org", "https://example.org", "example.org/", "a b", ":80", "u@h"}},
	}
	for _, test := range tests {
		for _, text := range test.good {
			if err := test.check(text); err != nil {
				t.Errorf("%s %q is refused: %v", test.name, text, err)
			}
		}
		for _, text := range test.bad {
			if test.check(text) == nil {
				t.Errorf("%s %q is not refused", test.name, text)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	keys := append(siblings(settingFields, ""), siblings(configFields, "")...)
	for key, want := range map[string]string{
		"cycel": "cycle", "windws": "windows", "fr-max": "fr_max", "FR_MAX": "fr_max", "delays": "delay", "pages_perhost": "pages_per_host",
		"x": "", "frobnicate": "", "": "",
	} {
		if got := nearest(key, keys); got != want {
			t.Errorf("nearest(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestSlips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{0,6}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := slips(a, b)
		if d != slips(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) {
			t.Errorf("slips(%q, %q) = %d, and %d the other way", a, b, d, slips(b, a))
		}
	})
}

func TestCompileGlob(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob, url string
		want      bool
	}{
		{"**.jpg", "http://a/x.jpg", true},
		{"**.jpg", "http://a/x.jpg?v", false},
		{"http://a/*", "http://a/x", true},
		{"http://a/*", "http://a/x/y", false},
		{"http://a/**", "http://a/x/y", true},
		{"http://a/***", "http://a/x/y", true},
		{"http://a/?", "http://a/x", true},
		{"http://a/?", "http://a/", false},
		{"http://a/?", "http://a//", false},
		{"http://a/(x)+.[y]", "http://a/(x)+.[y]", true},
		{"http://a/.", "http://a/x", false},
		{"*://a/", "https://a/", true},
		{"**/ü", "http://a/%C3%BC", true},
	}
	for _, test := range tests {
		pattern, err := CompileGlob(test.glob)
		if err != nil || pattern.MatchString(test.url) != test.want {
			t.Errorf("glob %s on %s: %v, want %v (%v)", test.glob, test.url, !test.want, test.want, err)
		}
	}
	for _, bad := range []string{"", "*.jpg", "/docs/*", "example.org"} {
		if pattern, err := CompileGlob(bad); err == nil {
			t.Errorf("CompileGlob(%q) = %v, want an error", bad, pattern)
		}
	}
}
