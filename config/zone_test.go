package config

import "testing"

func TestZone(t *testing.T) {
	t.Parallel()
	windows := func(texts ...string) (s Settings) {
		for _, text := range texts {
			w, err := ParseWindow(text)
			if err != nil {
				t.Fatal(err)
			}
			s.Windows = append(s.Windows, w)
		}
		return s
	}
	const berlin, york, cron = "Mon-Fri 09:00-18:00 Europe/Berlin", "00:00-06:00 America/New_York", "CRON_TZ=Asia/Tokyo 0 */6 * * *"
	for name, test := range map[string]struct {
		cycle      string
		defaults   Settings
		sites      []Settings // 1, 2 …
		site       int32
		want, from string
	}{
		"nothing":            {"6h", Settings{}, []Settings{{}}, 1, "UTC", ""},
		"its windows":        {cron, Settings{}, []Settings{windows(berlin, "Sat 10:00-12:00 Europe/Berlin"), windows(york)}, 1, "Europe/Berlin", "windows"},
		"windows of two":     {"6h", Settings{}, []Settings{windows(berlin, york)}, 1, "UTC", ""},
		"the cycle":          {cron, Settings{}, []Settings{windows(berlin, york), {}}, 2, "Asia/Tokyo", "cycle"},
		"TZ":                 {"TZ=Asia/Tokyo @daily", Settings{}, nil, 1, "Asia/Tokyo", "cycle"},
		"of no site by now":  {"6h", windows(york), nil, 7, "America/New_York", "windows"},
		"all alike":          {"6h", Settings{}, []Settings{windows(berlin), {}, windows(berlin)}, 0, "Europe/Berlin", "windows"},
		"all, and not alike": {"0 */6 * * *", Settings{}, []Settings{windows(berlin), windows(york)}, 0, "UTC", ""},
	} {
		c := Config{Cycle: test.cycle, Defaults: test.defaults}
		for i, s := range test.sites {
			c.Sites = append(c.Sites, Site{ID: int32(i + 1), Settings: s})
		}
		if zone, from := c.Zone(test.site); zone.String() != test.want || from != test.from {
			t.Errorf("%s: %s of %q, want %s of %q", name, zone, from, test.want, test.from)
		}
	}
}
