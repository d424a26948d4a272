package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestWithSites(t *testing.T) {
	t.Parallel()
	c, o := mustParse(t, fullFile)
	rows := []StoredSite{
		{ID: 7, Name: "docs", URL: "https://docs.example.org/en/", FromFile: true},
		{ID: 8, Name: "news", URL: "https://news.example.org", Settings: "delay: 0s\nfilter: {host: news.example.org}\n"},
		{ID: 9, Name: "old", URL: "https://old.example.org/", FromFile: true},
		{ID: 10, URL: "http://127.0.0.1:8080/x"},
	}
	merged, origins, err := c.WithSites(o, rows)
	if err != nil {
		t.Fatal(err)
	}
	news := c.Defaults
	news.Delay, news.Filter = 0, Filter{Host: []string{"news.example.org"}}
	want := append([]Site(nil), c.Sites...)
	want[0].ID = 7
	want = append(want,
		Site{ID: 8, Name: "news", URL: "https://news.example.org/", Settings: news},
		Site{ID: 10, Name: "127.0.0.1:8080", URL: "http://127.0.0.1:8080/x", Settings: c.Defaults})
	if diff := cmp.Diff(want, merged.Sites, byName); diff != "" {
		t.Errorf("sites (-want +got):\n%s", diff)
	}
	if len(c.Sites) != 2 || c.Sites[0].ID != 0 {
		t.Errorf("WithSites changed its receiver: %+v", c.Sites)
	}
	for place, want := range map[Place]string{
		{"news", "delay"}: "site news, command",
		{"news", "url"}:   "site news, command",
		{"news", "vary"}:  "recrawld.yaml:22",
		{"docs", "fr"}:    "site docs, recrawld.yaml:5",
	} {
		if got := origins.Of(place).String(); got != want {
			t.Errorf("origin of %v = %q, want %q", place, got, want)
		}
	}
	if err := merged.Validate(); err != nil {
		t.Errorf("Validate() = %v", err)
	}
	if got := merged.Site(8).Name; got != "news" {
		t.Errorf("Site(8) is %q, want news", got)
	}
	if diff := cmp.Diff(Site{ID: 9, Settings: c.Defaults}, merged.Site(9), byName); diff != "" {
		t.Errorf("a site that is in no file any more (-want +got):\n%s", diff)
	}
}

// A row that cannot be read costs its site alone.
func TestWithSitesBroken(t *testing.T) {
	t.Parallel()
	c, o := mustParse(t, "defaults: {fr: 3}")
	merged, _, err := c.WithSites(o, []StoredSite{
		{ID: 1, Name: "a", URL: "https://a.example.org/", Settings: "fr: [1"},
		{ID: 2, Name: "b", URL: "b.example.org"},
		{ID: 3, Name: "c", URL: "https://c.example.org/", Settings: "fr_max: 2\n"},
		{ID: 4, Name: "d", URL: "https://d.example.org/", Settings: "dely: 2s\nfr: 9\n"},
		{ID: 5, Name: "e", URL: "https://e.example.org/", Settings: "fr: 9\n"},
		{ID: 6, Name: "a/b", URL: "https://f.example.org/"},
	})
	want := `site a: is not YAML: sequence end token ']' not found
site b: url: "b.example.org" is not absolute, write "https://b.example.org"
/etc/recrawld/recrawld.yaml:1: site c: fr: 3 is more than fr_max, which is 2
site d: unknown key "dely", did you mean delay?
site a/b: name: "a/b" is not a name, write at most 100 letters, digits, "-", "_", "." or ":"`
	if err == nil || err.Error() != want {
		t.Errorf("error is\n%v\nwant\n%s", err, want)
	}
	if len(merged.Sites) != 1 || merged.Sites[0].Name != "e" || merged.Sites[0].Settings.FR != 9 {
		t.Errorf("sites = %+v, want e alone", merged.Sites)
	}
}

func TestParseSettings(t *testing.T) {
	t.Parallel()
	c := Default()
	got, err := c.ParseSettings("fr: 2\ngone: {visits: 5}\n")
	want := c.Defaults
	want.FR, want.GoneVisits = 2, 5
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("ParseSettings: %v (-want +got):\n%s", err, diff)
	}
	if got, err = c.ParseSettings(""); err != nil || !cmp.Equal(c.Defaults, got) {
		t.Errorf("ParseSettings of nothing = %+v, %v", got, err)
	}
	for _, bad := range []string{"fr: 0", "cycle: 6h", "url: https://example.org/", "page_time: 5m", "body_bytes: 1GiB"} {
		if got, err := c.ParseSettings(bad); err == nil {
			t.Errorf("ParseSettings(%q) = %+v, want an error", bad, got)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	old, _ := mustParse(t, "store: postgres://u:secret@h/db\nsites:\n  - url: https://a.example.org/\n  - url: https://b.example.org/\n    fr: 3\n")
	new, _ := mustParse(t, "store: postgres://u:other@h2/db\nsites:\n  - url: https://b.example.org/\n    fr: 5\n  - url: https://c.example.org/\n    fr: 5\n")
	want := []Change{
		{Key: "store", Old: "postgres://u:***@h/db", New: "postgres://u:***@h2/db"},
		{Site: "b.example.org", Key: "fr", Old: "3", New: "5"},
		{Site: "c.example.org", Key: "site", New: "https://c.example.org/"},
		{Site: "a.example.org", Key: "site", Old: "https://a.example.org/"},
	}
	got := Diff(&old, &new)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Diff (-want +got):\n%s", diff)
	}
	if text := changesText(got[2:]); text != "site c.example.org: new, https://c.example.org/\nsite a.example.org: gone\n" {
		t.Errorf("Diff reads %q", text)
	}
	if same := Diff(&old, &old); len(same) != 0 {
		t.Errorf("Diff of the same = %v", same)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	broken := map[string]func(*Config){
		"agent.name: \"a b\" is not a product token, write 1 to 64 letters, \"-\" or \"_\"": func(c *Config) { c.Agent.Name = "a b" },
		"cycle: \"\" is not a duration, write one like 90s, 6h or 30d":                      func(c *Config) { c.Cycle = "" },
		"listen: \"example.org:80\" is not on loopback, write 127.0.0.1:80":                 func(c *Config) { c.Listen = "example.org:80" },
		"data: is empty":                 func(c *Config) { c.Data = "" },
		"network.ports: 0 is not a port": func(c *Config) { c.Network.Ports = []uint16{80, 0} },
		"worker.lease: 1s is less than 5s\ndefaults.page_time: 2m plus a minute (or half the lease) is not less than worker.lease, which is 1s": func(c *Config) { c.Worker.Lease = time.Second },
		"defaults.vary: NaN% is more than 50%": func(c *Config) { c.Defaults.Vary = nan() },
		"defaults.windows: window 00:00-00:00 UTC is not a span of a day": func(c *Config) {
			c.Defaults.Windows = []Window{{Days: [7]bool{true, true, true, true, true, true, true}}}
		},
		"defaults.filter: several kinds stand side by side, put them into All": func(c *Config) { c.Defaults.Filter = Filter{Host: []string{"a"}, Path: []string{"/"}} },
		"defaults.filter: an empty filter inside another":                      func(c *Config) { c.Defaults.Filter = Filter{Not: &Filter{}} },
		"defaults.filter: path: \"x\" does not begin with \"/\"":               func(c *Config) { c.Defaults.Filter = Filter{Any: []Filter{{Path: []string{"x"}}}} },
		"site : url: is empty\nsite : name: is empty":                          func(c *Config) { c.Sites = []Site{{Settings: c.Defaults}} },
		"site a: level: -1 is less than 0": func(c *Config) {
			s := c.Defaults
			s.Level = -1
			c.Sites = []Site{{Name: "a", URL: "https://a/", Settings: s}}
		},
		"two sites have the name a": func(c *Config) {
			c.Sites = []Site{{Name: "a", URL: "https://a/", Settings: c.Defaults}, {Name: "a", URL: "https://b/", Settings: c.Defaults}}
		},
		"site b: url: is that of site a too, make one of the two": func(c *Config) {
			c.Sites = []Site{{Name: "a", URL: "https://a/", Settings: c.Defaults}, {Name: "b", URL: "https://a/", Settings: c.Defaults}}
		},
	}
	for want, change := range broken {
		c := Default()
		change(&c)
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("Validate() =\n%v\nwant\n%s", err, want)
		}
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestCheckContact(t *testing.T) {
	t.Parallel()
	tests := []struct {
		contact, url string
		wantErr      bool
	}{
		{"", "http://127.0.0.1:8080/", false},
		{"", "http://LOCALHOST/", false},
		{"", "http://[::1]:8080/", false},
		{"", "http://127.9.9.9/", false},
		{"", "https://example.org/", true},
		{"", "https://localhost.example.org/", true},
		{"", "http://10.0.0.1/", true},
		{"me@example.net", "https://example.org/", false},
		{"https://example.net/bot", "https://example.org/", false},
	}
	for _, test := range tests {
		c := Default()
		c.Agent.Contact = test.contact
		c.Sites = []Site{{Name: "a", URL: test.url, Settings: c.Defaults}}
		if err := c.CheckContact(); (err != nil) != test.wantErr {
			t.Errorf("contact %q for %s: CheckContact() = %v, want an error: %v", test.contact, test.url, err, test.wantErr)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("contact %q for %s: Validate() = %v", test.contact, test.url, err)
		}
	}
}
