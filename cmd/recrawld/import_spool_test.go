package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/models"
)

// TestSpoolGivesBack holds more pages than stay in memory, most of them of one host, and reads them in parts.
func TestSpoolGivesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSpool(dir)
	defer s.close()
	const n = 20_000
	want := make(map[string]spooled, n)
	for i := range n {
		host := "large.example"
		if i%10 == 0 {
			host = fmt.Sprintf("h%d.example", i)
		}
		p := spooled{url: fmt.Sprintf("https://%s/section/page-%d.html", host, i), host: host, site: int32(i % 3), fr: i % 2 * 200}
		want[p.url] = p
		if err := s.add(p); err != nil {
			t.Fatal(err)
		}
	}
	if s.file == nil {
		t.Error("20,000 pages stayed in memory")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the spool left %v in its directory (%v), which a crash would leave behind", left, err)
	}
	for bucket := range int16(models.Buckets) {
		for from, more := 0, true; more; more = from > 0 {
			text, next, err := s.part(bucket, from, 2*spoolBlockBytes)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > 3*spoolBlockBytes {
				t.Errorf("a part of %d bytes, wanted about %d", len(text), 2*spoolBlockBytes)
			}
			pages, err := sortedPages(text)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range pages {
				w, known := want[string(p.url)]
				if !known || w.site != p.site || w.fr != p.fr || models.BucketOf(w.host) != bucket || i > 0 && bytes.Compare(p.url, pages[i-1].url) < 0 {
					t.Fatalf("bucket %d gives back %s of site %d, fr %d; want %+v, in their order, once", bucket, p.url, p.site, p.fr, w)
				}
				delete(want, string(p.url))
			}
			from = next
		}
	}
	if len(want) > 0 {
		t.Errorf("%d pages of %d are not given back", len(want), n)
	}
}

func TestSpoolSeesDamage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\x01", "\x01\x01\x05http", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if _, err := sortedPages([]byte(text)); err == nil {
			t.Errorf("sortedPages(%q) finds nothing wrong", text)
		}
	}
}

// TestImportOfManyHosts makes one site for more hosts than get one each, which the next list adds to.
func TestImportOfManyHosts(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "agent: {contact: me@example.net}\nsites: [{url: \"https://docs.example.org/guide/\"}]\n")
	list := new(strings.Builder)
	for i := range importHosts + 1 {
		fmt.Fprintf(list, "https://h%d.example/a\nhttps://h%d.example/b\n", i, i)
	}
	list.WriteString("https://docs.example.org/guide/x\nhttps://docs.example.org/other\n")
	code, stdout, stderr := commandWith(t, list.String(), "import", "-c", config, "--json", "--follow")
	if code != exitUsage || !strings.Contains(stderr, "1000 hosts") {
		t.Errorf("import --follow: exit code %d, said %s%s; want a refusal", code, stdout, stderr)
	}
	code, stdout, stderr = commandWith(t, list.String(), "import", "-c", config, "--json")
	var got importCounts
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	if want := 2*importHosts + 3; got.Added != want || got.Bad != 1 || got.Sites != 1 || got.Names[0] != "import" {
		t.Errorf("counts %+v; want %d added, 1 bad, 1 new site named import", got, want)
	}
	code, stdout, _ = commandWith(t, "https://h1.example/c\nhttps://new.example/\n", "import", "-c", config, "--json")
	got = importCounts{}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitDone || got.Added != 2 || got.Sites != 0 {
		t.Errorf("a further import: exit code %d, %s; want 2 added to the site of all hosts", code, stdout)
	}
	sites := make(map[int32]int)
	for _, p := range dumpOf(t, data).Pages {
		sites[p.SiteID]++
	}
	if len(sites) != 2 || sites[2] != 2*importHosts+4 {
		t.Errorf("pages by site %v, want two sites, %d of the second", sites, 2*importHosts+4)
	}
}

// TestImportKnowsTheSitesOfTheFile imports into a site that no daemon has brought into the database yet.
func TestImportKnowsTheSitesOfTheFile(t *testing.T) {
	t.Parallel()
	config, _ := configure(t, "agent: {contact: me@example.net}\nsites: [{name: docs, url: \"https://docs.example.org/guide/\"}]\n")
	code, stdout, stderr := commandWith(t, "https://docs.example.org/guide/a\n", "import", "-c", config, "--site", "docs")
	if code != exitDone || !strings.Contains(stdout, "1 page added") {
		t.Errorf("exit code %d: %s%s, want one page added", code, stdout, stderr)
	}
}

// TestImportTakesTheSiteThatHasThePage: of several sites of a host each page goes to the first that has it in its scope; and a site that is
// made for a list begins with a page of the list, since nothing else is to be asked for.
func TestImportTakesTheSiteThatHasThePage(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "agent: {contact: me@example.net}\nsites: [{name: guide, url: \"https://shop.example/guide/\"}, "+
		"{name: terms, url: \"https://shop.example/terms/1\", level: 0}]\n")
	list := "https://shop.example/terms/2\nhttps://shop.example/guide/a\nhttps://shop.example/other\nhttps://new.example/a/b/1\nhttps://new.example/c\n"
	code, stdout, stderr := commandWith(t, list, "import", "-c", config)
	if code != exitDone || !strings.Contains(stdout, "4 pages added") || !strings.Contains(stdout, "line 3: outside https://shop.example/guide/") {
		t.Errorf("exit code %d: %s%s, want 4 pages added and line 3 outside", code, stdout, stderr)
	}
	all, names, got := dumpOf(t, data), make(map[int32]string), make(map[string]string)
	for _, site := range all.Sites {
		names[site.ID] = site.Name
		if site.Name == "new.example" && site.URL != "https://new.example/a/b/1" {
			t.Errorf("the site that was made begins with %s, want a page of the list", site.URL)
		}
	}
	for _, p := range all.Pages {
		got[p.URL] = names[p.SiteID]
	}
	want := map[string]string{"https://shop.example/terms/2": "terms", "https://shop.example/guide/a": "guide",
		"https://new.example/a/b/1": "new.example", "https://new.example/c": "new.example"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sites of pages (-want +got):\n%s", diff)
	}
}

// TestImportTellsItsSiteFromOthers: a site of the user's own may have the very settings of the one that many hosts share.
func TestImportTellsItsSiteFromOthers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"import": true, "import-2": true, "import-17": true,
		"docs": false, "import-": false, "import-x": false, "import-2x": false, "import.example": false, "imports": false,
	} {
		var s importSites
		base := config.Default()
		row := models.Site{ID: 7, Name: name, URL: "https://docs.example.org/", Settings: listedPages}
		if err := s.begin([]models.Site{row}, &base); err != nil {
			t.Fatal(err)
		}
		if got := s.shared == 7; got != want {
			t.Errorf("site %q is taken for the one that many hosts share: %t, want %t", name, got, want)
		}
	}
}
