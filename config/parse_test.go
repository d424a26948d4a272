package config

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// byName compares time zones, whose insides depend on what was asked of them before, by their names.
var byName = cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })

func mustParse(t testing.TB, text string) (Config, Origins) {
	t.Helper()
	c, o, err := Parse("/etc/recrawld/recrawld.yaml", []byte(text))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return c, o
}

func TestDefaultIsValid(t *testing.T) {
	t.Parallel()
	c := Default()
	if err := c.Validate(); err != nil {
		t.Errorf("Default().Validate() = %v", err)
	}
}

func TestParseNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "# a comment\n", "---\n", "sites:\n", "defaults:\nagent:\nsites: []\n", "---\n# only this\n"} {
		got, _ := mustParse(t, text)
		if diff := cmp.Diff(Default(), got, cmpopts.EquateComparable(netip.Prefix{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Parse(%q) is not the default:\n%s", text, diff)
		}
	}
}

const fullFile = `# sites may stand before what they inherit
sites:
  - url: https://docs.example.org/en/
    name: docs
    fr: 2
    windows: ["22:00-06:00 Europe/Berlin", "Sat,Sun 00:00-24:00 UTC"]
    filter:
      all:
        - path: /en/
        - not: { extension: [JPG, .png] }
  - url: HTTP://Blog.Example.org:8080
    parents: off
    windows: []
agent: { name: Example-Bot, contact: me@example.net }
cycle: 0 */6 * * *
listen: off
network: { allow: [10.0.0.0/8, "::1"], ports: [80] }
worker: { name: w-1, lease: 90s, memory: 1GiB }
backup: { every: off, dir: /backups }
mirror: off
defaults:
  vary: 7.5%
  page_time: 10s
  windows: ["00:00-12:00 UTC"]
  pages_per_host: 1_000
  gone: { over: 2w }
`

func TestParse(t *testing.T) {
	t.Parallel()
	c, _ := mustParse(t, fullFile)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	docs := c.Defaults
	docs.FR = 2
	docs.Windows = []Window{
		{From: 22 * time.Hour, To: 6 * time.Hour, Days: [7]bool{true, true, true, true, true, true, true}, Zone: berlin},
		{From: 0, To: 24 * time.Hour, Days: [7]bool{time.Sunday: true, time.Saturday: true}, Zone: time.UTC},
	}
	docs.Filter = Filter{Line: 8, All: []Filter{
		{Line: 9, Path: []string{"/en/"}},
		{Line: 10, Not: &Filter{Line: 10, Extension: []string{"jpg", "png"}}},
	}}
	blog := c.Defaults
	blog.Parents.Threshold, blog.Windows = 0, nil
	want := []Site{
		{Name: "docs", URL: "https://docs.example.org/en/", Settings: docs},
		{Name: "blog.example.org:8080", URL: "http://blog.example.org:8080/", Settings: blog},
	}
	if diff := cmp.Diff(want, c.Sites, byName); diff != "" {
		t.Errorf("sites (-want +got):\n%s", diff)
	}
	start := Default()
	got := changesText(Diff(&start, &c))
	wantChanges := `agent.name: recrawld → Example-Bot
agent.contact: "" → me@example.net
cycle: 6h → "0 */6 * * *"
listen: 127.0.0.1:8686 → off
network.allow: [] → [10.0.0.0/8, "::1/128"]
network.ports: [80, 443, 8080, 8443] → [80]
worker.name: ` + start.Worker.Name + ` → w-1
worker.lease: 5m → 1m30s
worker.memory: 256MiB → 1GiB
backup.every: 8h → off
backup.dir: ` + start.Backup.Dir + ` → /backups
mirror.dir: ` + start.Mirror.Dir + ` → off
defaults.vary: 15% → 7.5%
defaults.windows: [] → ["00:00-12:00 UTC"]
defaults.page_time: 2m → 10s
defaults.pages_per_host: 10000000 → 1000
defaults.gone.over: 2d → 14d
site docs: new, https://docs.example.org/en/
site blog.example.org:8080: new, http://blog.example.org:8080/
`
	if diff := cmp.Diff(wantChanges, got); diff != "" {
		t.Errorf("changes from the default (-want +got):\n%s", diff)
	}
	if err := c.Validate(); err != nil {
		t.Errorf("Validate() of what was parsed = %v", err)
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	c, o := mustParse(t, fullFile)
	if err := c.Set(o, "cycle", "12h"); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		place Place
		want  string
	}{
		{Place{"", "agent.name"}, "recrawld.yaml:14"},
		{Place{"", "cycle"}, "command"},
		{Place{"", "data"}, "default"},
		{Place{"", "mirror.dir"}, "recrawld.yaml:20"},
		{Place{"", "defaults.vary"}, "recrawld.yaml:22"},
		{Place{"", "defaults.fr"}, "default"},
		{Place{"docs", "url"}, "site docs, recrawld.yaml:3"},
		{Place{"docs", "fr"}, "site docs, recrawld.yaml:5"},
		{Place{"docs", "vary"}, "recrawld.yaml:22"},
		{Place{"docs", "gone.over"}, "recrawld.yaml:26"},
		{Place{"docs", "fr_max"}, "default"},
		{Place{"blog.example.org:8080", "parents.threshold"}, "site blog.example.org:8080, recrawld.yaml:12"},
	}
	for _, test := range tests {
		if got := o.Of(test.place).String(); got != test.want {
			t.Errorf("origin of %v = %q, want %q", test.place, got, test.want)
		}
	}
}

// Every value is listed once, with its key, and reading what is listed gives the same configuration again.
func TestValuesReadBack(t *testing.T) {
	t.Parallel()
	c, o := mustParse(t, fullFile)
	seen := map[Place]bool{}
	for _, v := range c.Values(o) {
		if place := (Place{v.Site, v.Key}); seen[place] {
			t.Errorf("%v is listed twice", place)
		} else {
			seen[place] = true
		}
		if v.Site != "" || v.Key == "worker.lease" { // too short for the default of page_time
			continue
		}
		again, _, err := Parse("again", []byte(yamlOf(v.Key, v.Value)))
		if err != nil {
			t.Errorf("%s: %s cannot be read back: %v", v.Key, v.Value, err)
		}
		for _, w := range again.Values(nil) {
			if w.Key == v.Key && w.Site == "" && w.Value != v.Value {
				t.Errorf("%s: %s is read back as %s", v.Key, v.Value, w.Value)
			}
		}
	}
	for _, place := range []Place{{"", "agent.contact"}, {"", "defaults.gone.over"}, {"docs", "url"}, {"docs", "parents.max_skips"}} {
		if !seen[place] {
			t.Errorf("%v is not listed", place)
		}
	}
}

// yamlOf writes a dotted key in block form.
func yamlOf(key, value string) string {
	sections := strings.Split(key, ".")
	out := ""
	for i, section := range sections {
		out += strings.Repeat("  ", i) + section + ":"
		if i < len(sections)-1 {
			out += "\n"
		}
	}
	return out + " " + value + "\n"
}

func TestLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "recrawld.yaml")
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of a missing file = %v, want fs.ErrNotExist", err)
	}
	if err := os.WriteFile(path, []byte("\r\ncycle: 12h\r\nagent:\r\n  name: Bot\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil || c.Cycle != "12h" || c.Agent.Name != "Bot" {
		t.Errorf("Load = %+v, %v", c, err)
	}
	if err := os.WriteFile(path, []byte("cycle: 12"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Load(path)
	if want := path + ":1: cycle: 12 has no unit, write 12h"; err == nil || err.Error() != want {
		t.Errorf("Load = %v, want %s", err, want)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("Load of a directory gives no error")
	}
}

func TestStateDirectory(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", "/var/lib/recrawld:/var/lib/other")
	c, o := mustParse(t, "cycle: 6h")
	if c.Data != "/var/lib/recrawld" || c.Backup.Dir != "/var/lib/recrawld/backups" || c.Mirror.Dir != "/var/lib/recrawld/mirror" {
		t.Errorf("directories = %q, %q, %q", c.Data, c.Backup.Dir, c.Mirror.Dir)
	}
	if got := o.Of(Place{Key: "data"}).String(); got != "environment" {
		t.Errorf("origin of data = %q, want environment", got)
	}
	c, o = mustParse(t, "data: /srv/state\nbackup: {dir: /b}")
	if c.Data != "/srv/state" || c.Backup.Dir != "/b" || c.Mirror.Dir != "/srv/state/mirror" {
		t.Errorf("directories = %q, %q, %q", c.Data, c.Backup.Dir, c.Mirror.Dir)
	}
	if err := c.Set(o, "data", "/elsewhere"); err != nil {
		t.Fatal(err)
	}
	if c.Data != "/elsewhere" || c.Backup.Dir != "/b" || c.Mirror.Dir != "/elsewhere/mirror" {
		t.Errorf("directories after Set = %q, %q, %q", c.Data, c.Backup.Dir, c.Mirror.Dir)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	c, o := mustParse(t, fullFile)
	for _, bad := range [][]string{{"cycle", "12"}, {"nothing", "1"}, {"parents", "off"}, {"defaults.windows", "x"}, {"mirror", "off"}, {"cycle", "6h", "7h"}} {
		before := c
		if err := c.Set(o, bad[0], bad[1:]...); err == nil {
			t.Errorf("Set(%q) gives no error", bad)
		}
		if diff := cmp.Diff(before, c, byName, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("Set(%q) changed:\n%s", bad, diff)
		}
	}
	for _, good := range [][]string{{"defaults.fr", "8"}, {"defaults.delay", "0s"}, {"network.allow", "127.0.0.1", "::1"}, {"agent.contact", "x@example.net"}} {
		if err := c.Set(o, good[0], good[1:]...); err != nil {
			t.Errorf("Set(%q) = %v", good, err)
		}
	}
	if c.Defaults.FR != 8 || c.Sites[0].Settings.FR != 2 || c.Sites[1].Settings.FR != 8 || c.Sites[0].Settings.Delay != 0 {
		t.Errorf("fr = %d, %d, %d, delay = %s", c.Defaults.FR, c.Sites[0].Settings.FR, c.Sites[1].Settings.FR, c.Sites[0].Settings.Delay)
	}
	if len(c.Network.Allow) != 2 {
		t.Errorf("network.allow = %v", c.Network.Allow)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(Example))
	f.Add([]byte(fullFile))
	paths, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 10_000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, o, err := Parse("fuzz.yaml", text)
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 || len(err.Error()) == 0 {
				t.Errorf("Parse gives %T %v, want Problems", err, err)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("what Parse accepts is not valid: %v", err)
		}
		for _, v := range c.Values(o) {
			if v.Value == "" {
				t.Errorf("%s has no written form", v.Key)
			}
		}
	})
}
