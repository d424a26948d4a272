package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const changeFile = `
defaults:
  significance: 0.3
  ignore: [.clock, "footer .build"]
  ignore_text: ['Built in \d+ ms', "(?i)you are visitor [0-9,]+"]
  audit: 2.5%
sites:
  - url: https://a.example.org/
  - url: https://b.example.org/
    significance: 0
    watch: main
    ignore: ["#visitors, #clock"]
    ignore_text: []
    duplicates: off
    audit: off
    probe: off
`

// What a site says of changes replaces what the defaults say, list by list; the rest it has from them.
func TestSettingsOfChange(t *testing.T) {
	t.Parallel()
	c, origins := mustParse(t, changeFile)
	a := c.Defaults
	want := DefaultSettings()
	want.Significance, want.Audit, want.Ignore = 0.3, 0.025, []string{".clock", "footer .build"}
	want.IgnoreText = []string{`Built in \d+ ms`, `(?i)you are visitor [0-9,]+`}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, c.Sites[0].Settings); diff != "" {
		t.Errorf("a site that says nothing (-want +got):\n%s", diff)
	}
	want.Significance, want.Audit, want.Probe, want.Duplicates = 0, 0, 0, false
	want.Watch, want.Ignore, want.IgnoreText = []string{"main"}, []string{"#visitors, #clock"}, nil
	if diff := cmp.Diff(want, c.Sites[1].Settings); diff != "" {
		t.Errorf("a site that says all (-want +got):\n%s", diff)
	}
	for place, want := range map[Place]string{
		{"a.example.org", "ignore"}:       "recrawld.yaml:4",
		{"b.example.org", "ignore"}:       "site b.example.org, recrawld.yaml:12",
		{"b.example.org", "watch"}:        "site b.example.org, recrawld.yaml:11",
		{"b.example.org", "significance"}: "site b.example.org, recrawld.yaml:10",
		{"a.example.org", "probe"}:        "default",
	} {
		if got := origins.Of(place).String(); got != want {
			t.Errorf("origin of %v = %q, want %q", place, got, want)
		}
	}
}

// What is shown can be written into a file, and says the same there.
func TestSettingsOfChangeReadBack(t *testing.T) {
	t.Parallel()
	c, _ := mustParse(t, changeFile)
	for _, site := range c.Sites {
		var text strings.Builder
		for _, v := range site.Values(nil) {
			if !strings.Contains(v.Key, ".") && v.Key != "url" && v.Key != "name" {
				text.WriteString(v.Key + ": " + v.Value + "\n")
			}
		}
		fresh := Default()
		again, err := fresh.ParseSettings(text.String())
		if err != nil {
			t.Fatalf("%s: %v\n%s", site.Name, err, text.String())
		}
		site.Settings.PolicyNamed = true // now that it is written
		if diff := cmp.Diff(site.Settings, again, byName); diff != "" {
			t.Errorf("%s is read back otherwise (-want +got):\n%s\n%s", site.Name, diff, text.String())
		}
	}
}

func TestSelectorsByCommand(t *testing.T) {
	t.Parallel()
	c, origins := mustParse(t, changeFile)
	if err := c.Set(origins, "defaults.ignore", ".ad", "#clock"); err != nil {
		t.Fatal(err)
	}
	got := [][]string{c.Defaults.Ignore, c.Sites[0].Settings.Ignore, c.Sites[1].Settings.Ignore}
	want := [][]string{{".ad", "#clock"}, {".ad", "#clock"}, {"#visitors, #clock"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ignore after Set (-want +got):\n%s", diff)
	}
	settings, err := c.ParseSettings("ignore_text: 'Page \\d+'\nprobe: 7d\n")
	if err != nil || settings.Probe != 7*24*time.Hour || len(settings.IgnoreText) != 1 {
		t.Errorf("ParseSettings = %v, %v, %v", settings.IgnoreText, settings.Probe, err)
	}
	for _, bad := range []string{"watch: 'p['", "watch: " + strings.Repeat(":not(", 500), "ignore: on", "ignore_text: '('"} {
		if _, err := c.ParseSettings(bad); err == nil {
			t.Errorf("ParseSettings(%.20q) gives no error", bad)
		}
	}
	settings.Ignore = []string{"a["}
	broken := Default()
	broken.Defaults = settings
	if err := broken.Validate(); err == nil || !strings.Contains(err.Error(), "defaults.ignore") {
		t.Errorf("Validate() = %v, want the bad selector", err)
	}
}
