package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type verdictShown struct {
	Keep            bool
	URL, Site, Rule string
}

func verdictsShown(t *testing.T, c filterTestCmd, text, stdin string) []verdictShown {
	t.Helper()
	g, answer := atDesk(t, text, stdin)
	g.JSON = true
	if err := c.Run(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	var got struct{ Rows []verdictShown }
	if err := json.Unmarshal(answer.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	return got.Rows
}

func TestFilterTest(t *testing.T) {
	t.Parallel()
	got := verdictsShown(t, filterTestCmd{Level: 4, URLs: []string{
		"https://docs.example.org/en/a.jpg",
		"HTTPS://Docs.Example.org/en/x/../a.html#top",
		"https://example.net/deep",
		"https://other.example/",
		"mailto:me@example.net",
	}}, twoSites, "")
	want := []verdictShown{
		{false, "https://docs.example.org/en/a.jpg", "docs", "filter line 7: not extension jpg"},
		{true, "https://docs.example.org/en/a.html", "docs", "filter line 7: extension is not jpg or png"},
		{false, "https://example.net/deep", "www.example.net", "level 4 is beyond 3"},
		{false, "https://other.example/", "", "outside all 2 sites"},
		{false, "mailto:me@example.net", "", `parse URL "mailto:me@example.net": scheme is not http or https`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

func TestFilterTestOneSite(t *testing.T) {
	t.Parallel()
	got := verdictsShown(t, filterTestCmd{Level: 1, Site: "docs", URLs: []string{"https://example.net/"}}, twoSites, "")
	want := []verdictShown{{false, "https://example.net/", "docs", "outside https://docs.example.org/en/"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

// A start URL does for a site that is not there yet; URLs come from standard input where none are named.
func TestFilterTestNewSite(t *testing.T) {
	t.Parallel()
	got := verdictsShown(t, filterTestCmd{Level: 1, Site: "https://new.example.org/a/"}, "defaults: {filter: {path: /a/b/}}",
		"https://new.example.org/a/b/c\n\n  https://new.example.org/a/c  \r\n")
	want := []verdictShown{
		{true, "https://new.example.org/a/b/c", "new.example.org", "filter line 1: path /a/b/"},
		{false, "https://new.example.org/a/c", "new.example.org", "filter line 1: path does not begin with /a/b/"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

// With --requisite the URLs are images and styles of pages: of the sites that keep such the first does, wherever they lie.
func TestFilterTestOfRequisites(t *testing.T) {
	t.Parallel()
	const sites = "sites:\n  - {url: \"https://a.example/docs/\", requisites: site}\n" +
		"  - {url: \"https://b.example/\", requisites: all, requisites_filter: {not: {extension: [mp4]}}}\n  - {url: \"https://c.example/docs/\"}"
	urls := []string{"https://a.example/docs/a.png", "https://a.example/a.png", "https://cdn.example/a.png", "https://cdn.example/a.mp4", "https://c.example/a.png"}
	got := verdictsShown(t, filterTestCmd{Level: 1, Requisite: true, URLs: urls}, sites, "")
	want := []verdictShown{
		{true, urls[0], "a.example", "inside https://a.example/docs/"},
		{true, urls[1], "a.example", "requisites: site"},
		{true, urls[2], "b.example", "requisites_filter line 3: extension is not mp4"},
		{false, urls[3], "", "outside all 3 sites"},
		{true, urls[4], "b.example", "requisites_filter line 3: extension is not mp4"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	one := verdictsShown(t, filterTestCmd{Level: 1, Requisite: true, Site: "c.example", URLs: urls[4:]}, sites, "")
	if want := (verdictShown{false, urls[4], "c.example", "requisites: off"}); one[0] != want {
		t.Errorf("of one site: %v, want %v", one[0], want)
	}
}

func TestFilterTestWithoutSites(t *testing.T) {
	t.Parallel()
	for _, site := range []string{"", "nowhere"} {
		g, _ := atDesk(t, "", strings.Repeat("x", 10))
		if code := exitCode(filterTestCmd{Site: site}.Run(t.Context(), g)); code != exitNotFound {
			t.Errorf("filter test --site %q: exit code %d, want %d", site, code, exitNotFound)
		}
	}
}
