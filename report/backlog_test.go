package report

import (
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/models"
)

// backlogFor is what FindBacklog says of a site of these pages, by what each says as for looksFor, "" where it waits; changed are those that did.
func backlogFor(t *testing.T, of SampledSite, says map[string]string, changed ...string) string {
	t.Helper()
	sample, known := sampleOf(says)
	for i := range sample {
		for _, part := range changed {
			if strings.Contains(sample[i].URL, part) && sample[i].Records > 0 {
				sample[i].Changes = 1
			}
		}
	}
	bases := BacklogBases(of, sample)
	for url := range known { // nothing else is read
		if _, read := bases[url]; !read {
			delete(known, url)
		}
	}
	u, is := FindBacklog(of, sample, known)
	if is != (u.Words != "") || is && (u.Kind != Backlog || u.Site != of.Site) {
		t.Errorf("found %v: %+v", is, u)
	}
	return u.Words
}

// waiting makes pages that wait of each form, as shape does those that do not.
func waiting(n, k int, forms ...string) map[string]string {
	says := shape(n, k, forms...)
	for url := range says {
		says[url] = ""
	}
	return says
}

func both(of ...map[string]string) map[string]string {
	all := make(map[string]string)
	for _, says := range of {
		for url, as := range says {
			all[url] = as
		}
	}
	return all
}

// What waits for months is told of, by what most of it has in its address; a filter is offered for a parameter that shows in another way what is
// there without it, and for none that may tell apart all that there is.
func TestBacklog(t *testing.T) {
	t.Parallel()
	repository := both(shape(60, 1, "/file?name=N", "/dir?name=N"), shape(60, 3, "/file?ci=K&name=N"), waiting(60, 30, "/file?ci=aK&name=N"), waiting(400, 1, "/info/N"))
	for name, c := range map[string]struct {
		of   SampledSite
		says map[string]string
		want string // "" where nothing is said
	}{
		"each file at each commit": {SampledSite{Site: 3, Pages: 20_000, Waiting: 18_000, First: 1000}, repository,
			"18,000 of 20,000 pages wait for their first visit, for about 126 days at the pace of the last 7 days (1,000); " +
				"82 % of them have ?ci= in their address (https://a.example/file?ci=a0&name=0), 18 % lie below /info/. " +
				"filter: {not: {param: ci}} leaves out those with ?ci=, other views of what is known without if they are not its further pages or languages; of 180 of the sample that were visited again 60 changed"},
		"a filter that it has": {SampledSite{Pages: 20_000, Waiting: 18_000, First: 1000, Filter: config.Filter{Not: &config.Filter{Extension: []string{"zip"}}}}, repository,
			"filter: {all: [{not: {extension: zip}}, {not: {param: ci}}]} leaves out"},
		"no first visit": {SampledSite{Pages: 20_000, Waiting: 18_000}, repository,
			"18,000 of 20,000 pages wait for their first visit, and none of them had it in the last 7 days; "},
		"very long": {SampledSite{Pages: 9e6, Waiting: 8e6, First: 700}, repository, "for about 219 years at"},
		"a wiki":    {SampledSite{Pages: 20_000, Waiting: 18_000, First: 1000}, both(shape(1, 1, "/w"), waiting(500, 1, "/w?title=N")), "100 % of them have ?title= in their address (https://a.example/w?title=0). A filter leaves out what is not wanted"},
		"a calendar": {SampledSite{Pages: 20_000, Waiting: 18_000, First: 1000}, both(shape(9, 1, "/room/N"), waiting(9, 90, "/room/N?day=K")),
			"100 % of them have ?day= in their address (https://a.example/room/0?day=0). A filter leaves out what is not wanted"},
		"pictures of users": {SampledSite{Pages: 9e6, Waiting: 8e6, First: 700}, both(shape(300, 1, "/user/N"), waiting(300, 1, "/user/N?photo=p-N")),
			"100 % of them have ?photo= in their address (https://a.example/user/0?photo=p-0). A filter leaves out what is not wanted"},
		"long addresses":        {SampledSite{Pages: 20_000, Waiting: 18_000, First: 1000}, waiting(30, 1, "/x/"+strings.Repeat("a", 500)+"N"), strings.Repeat("a", 139) + "…). A filter"},
		"few are in the sample": {SampledSite{Pages: 9e6, Waiting: 18_000, First: 1000}, both(shape(500, 1, "/x/N"), waiting(8, 1, "/y/N?z=1")), "at the pace of the last 7 days (1,000)"},
		"of four pages":         {SampledSite{Pages: 20_000, Waiting: 18_000, First: 1000}, both(shape(4, 1, "/f/N"), waiting(4, 5, "/f/N?ci=K")), "A filter leaves out what is not wanted"},
		"few are known without": {SampledSite{Pages: 20_000, Waiting: 18_000, First: 1000}, both(shape(10, 1, "/f/N"), waiting(10, 2, "/f/N?ci=K"), waiting(300, 1, "/g/N?ci=0")),
			"100 % of them have ?ci= in their address (https://a.example/f/0?ci=0). A filter leaves out what is not wanted"},
		"years":        {SampledSite{Pages: 20_000, Waiting: 18_000, First: 1000}, waiting(50, 3, "/K/N"), "33 % of them lie below /0/ (https://a.example/0/0), 33 % lie below /1/, 33 % lie below /2/. A filter"},
		"no part":      {SampledSite{Pages: 20_000, Waiting: 18_000, First: 1000}, waiting(50, 1, "/N"), "at the pace of the last 7 days (1,000)"},
		"soon":         {SampledSite{Pages: 20_000, Waiting: 8_000, First: 1000}, repository, ""},
		"still":        {SampledSite{Pages: 20_000, Waiting: 8_000, First: 1000, HadBacklog: true}, repository, "for about 56 days"},
		"no more":      {SampledSite{Pages: 20_000, Waiting: 6_000, First: 1000, HadBacklog: true}, repository, ""},
		"few":          {SampledSite{Pages: 20_000, Waiting: 900, First: 1}, repository, ""},
		"just added":   {SampledSite{Pages: 20_000, Waiting: 18_000, First: -1}, repository, ""},
		"all of it is": {SampledSite{Pages: 20_000, First: 1000}, shape(50, 1, "/N"), ""},
	} {
		got := backlogFor(t, c.of, c.says, "ci=0")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || name == "few are in the sample" && !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: is said\n%q, want\n%q", name, got, c.want)
		}
	}
}

// What a filter leaves out by now waits for its turn to be excluded, and counts as little as its pages do; nor does what was visited in vain wait.
func TestBacklogOfWhatIsKept(t *testing.T) {
	t.Parallel()
	sample, _ := sampleOf(both(shape(100, 1, "/N"), waiting(100, 3, "/N?ci=K")))
	of := SampledSite{Pages: 8_000, Waiting: 6_000, First: 10, Keeps: func(url string) bool { return !strings.Contains(url, "ci=") }}
	of.kept(sample)
	if of.Pages != 2_000 || of.Waiting != 0 {
		t.Errorf("of 8,000 pages of which 6,000 wait %d and %d are kept, want 2,000 and none", of.Pages, of.Waiting)
	}
	for i := range sample {
		sample[i].Visits = int32(i % 2)
	}
	tried := SampledSite{Pages: 8_000, Waiting: 6_000, First: 10, Keeps: func(string) bool { return true }}
	if tried.kept(sample); tried.Pages != 8_000 || tried.Waiting < 2_000 || tried.Waiting > 4_000 {
		t.Errorf("of 8,000 pages of which 6,000 are new, each other one visited in vain, %d and %d are kept", tried.Pages, tried.Waiting)
	}
	if _, is := FindBacklog(of, sample, map[string]models.Sampled{}); is {
		t.Error("what is filtered out is a backlog")
	}
}

// Of a site whose addresses are too long to be looked at it is told all the same.
func TestBacklogOfLongAddresses(t *testing.T) {
	t.Parallel()
	var drawn siteSample
	drawn.add(models.Sampled{URL: "https://a.example/?x=" + strings.Repeat("a", longestSampled), State: models.StateNew})
	of := SampledSite{Pages: 8_000, Waiting: 6_000, First: 10, Keeps: func(string) bool { return true }}
	sample := of.kept(drawn.pages)
	if _, is := FindBacklog(of, sample, nil); len(sample) > 0 || !is {
		t.Errorf("%d pages are looked at, a backlog is told of: %v", len(sample), is)
	}
}
