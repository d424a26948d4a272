package main

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/models"
)

func TestSitesOfTheDatabaseAreInForce(t *testing.T) {
	t.Parallel()
	rows := []models.Site{
		{ID: 1, Name: "docs.example.org", URL: "https://docs.example.org/guide/"},
		{ID: 2, Name: "here", URL: "http://127.0.0.1:8099/", Settings: "delay: 0s", Paused: true},
		{ID: 3, Name: "odd", URL: "https://odd.example.org/", Settings: "dely: 1s"},
	}
	f, err := putTogether(config.Default(), config.DefaultOrigins(), rows)
	if err != nil {
		t.Fatal(err)
	}
	site, scope := f.site(1)
	if site.URL != rows[0].URL || scope == nil {
		t.Errorf("site 1 = %+v, scope %v; want its URL and a scope", site, scope)
	}
	if site, _ := f.site(2); site.Settings.Delay != 0 {
		t.Errorf("delay of site 2 = %v, want 0 as its row says", site.Settings.Delay)
	}
	if f.broken == nil {
		t.Errorf("the settings of site 3 cannot be read, and nothing says so")
	}
	if site, scope := f.site(3); scope == nil || site.Settings.Delay != config.DefaultSettings().Delay {
		t.Errorf("site 3 is not visited under the defaults: %+v", site)
	}
	want := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	if diff := cmp.Diff(want, f.config.Network.Allow, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("addresses allowed (-want +got):\n%s", diff)
	}
	if got := foreign(&f.config); !slices.Contains(got, rows[0].URL) || slices.Contains(got, rows[1].URL) {
		t.Errorf("foreign URLs = %v, want the first site's and not the second's", got)
	}
}

func TestLoopbackOf(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{
		"http://127.0.0.1:80/": 1, "http://[::1]/": 1, "http://localhost:8000/x": 2, "http://127.1/": 1,
		"https://example.org/": 0, "http://10.0.0.1/": 0, "nonsense": 0, "http://localhost.example.org/": 0,
	} {
		if got := loopbackOf(raw); len(got) != want {
			t.Errorf("loopbackOf(%q) = %v, want %d", raw, got, want)
		}
	}
}

// A reload would tell of each site on this machine that network.allow has changed.
func TestOwnSitesAreAllowedOnce(t *testing.T) {
	t.Parallel()
	c := config.Config{Sites: []config.Site{{URL: "http://127.0.0.1:1/"}, {URL: "http://127.0.0.1:2/"}, {URL: "http://localhost/"}}}
	allowOwnSites(&c)
	allowOwnSites(&c)
	if len(c.Network.Allow) != 2 {
		t.Errorf("allowed are %v, want 127.0.0.1 and ::1", c.Network.Allow)
	}
}
