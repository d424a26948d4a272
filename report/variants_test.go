package report

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawld/config"
	"recrawld/models"
)

// looksFor is what FindVariants says of a site of these pages, by what each says: the URL of the page that says the same, or leads elsewhere ("→ URL"),
// or "" where nobody has visited it.
func looksFor(t *testing.T, of SampledSite, says map[string]string) string {
	t.Helper()
	sample, known := sampleOf(says)
	for base := range VariantBases(sample) { // and nothing else is read
		if p, is := known[base]; is {
			p.Bucket = 1
			known[base] = p
		}
	}
	for url, p := range known {
		if p.Bucket == 0 {
			delete(known, url)
		}
	}
	u, is := FindVariants(of, sample, known)
	if is != (u.Words != "") || is && (u.Kind != Variants || u.Site != of.Site) {
		t.Errorf("found %v: %+v", is, u)
	}
	return u.Words
}

func sampleOf(says map[string]string) (sample []models.Sampled, known map[string]models.Sampled) {
	known = make(map[string]models.Sampled)
	for url, as := range says {
		p := models.Sampled{URL: url, State: models.StateLive, Visits: 2, Records: 2}
		if to, moved := strings.CutPrefix(as, "→ "); moved {
			p.State, p.RedirectTo = models.StateMoved, to
		} else if as == "" {
			p.State, p.Visits, p.Records = models.StateNew, 0, 0
		} else if as != url {
			p.DuplicateOf = as
		}
		sample, known[url] = append(sample, p), p
	}
	return sample, known
}

// shape makes a site of n pages of each form: "URL" of a page of its own, or "URL = URL" of one that says what another one says; N is a number
// below n, K one of k, each with each.
func shape(n, k int, forms ...string) map[string]string {
	says := make(map[string]string)
	for _, form := range forms {
		for i := range n {
			for j := range k {
				url, as, same := strings.Cut(strings.NewReplacer("N", fmt.Sprint(i), "K", fmt.Sprint(j)).Replace("https://a.example"+form), " = ")
				if url, as = strings.TrimSuffix(url, " ?"), "https://a.example"+as; !same {
					as = url
				}
				if strings.HasSuffix(form, " ?") {
					as = ""
				}
				if strings.HasSuffix(form, "→") {
					url = strings.TrimSuffix(url, " →")
					as = "→ " + strings.TrimSuffix(as, " →")
				}
				says[url] = as
			}
		}
	}
	return says
}

// repository has n files with their versions at k commits, of which one in five is a former one, and what the commits changed.
func repository(n, k int) map[string]string {
	says := shape(n, k, "/x/tree/N", "/x/commit/?id=N-K", "/x/tree/N?id=K = /x/tree/N", "/x/log/N?id=K")
	for i := range n {
		for j := range k {
			if url := fmt.Sprintf("https://a.example/x/tree/%d?id=%d", i, j); (i+j)%5 == 0 {
				says[url] = url
			}
		}
	}
	return says
}

// A trap is called one where the page without the parameter is there and says the same; what tells topics, products, months or versions apart is
// none, however many of them say the same as others.
func TestFindVariants(t *testing.T) {
	t.Parallel()
	few := func(says map[string]string, most int) map[string]string { // of those that say what others say
		n := 0
		for url, as := range says {
			if url != as {
				if n++; n > most {
					delete(says, url)
				}
			}
		}
		return says
	}
	for name, c := range map[string]struct {
		says map[string]string
		want string // "": nothing is said
	}{
		"for printers":        {shape(300, 1, "/a/N", "/a/N?print=1 = /a/N"), "filter: {not: {param: print}} leaves them out"},
		"answers begun":       {shape(30, 8, "/a/N", "/a/N?replytocom=K = /a/N"), "filter: {not: {param: replytocom}} leaves them out"},
		"which lead back":     {shape(30, 8, "/a/N", "/a/N?replytocom=K = /a/N →"), "filter: {not: {param: replytocom}} leaves them out"},
		"known by them first": {shape(40, 1, "/a/N?lang=en", "/a/N = /a/N?lang=en"), "filter: {not: {param: lang}} leaves them out"},
		"two kinds":           {shape(100, 1, "/a?t=N", "/a?t=N&print=1 = /a?t=N", "/a?sid=x&t=N = /a?t=N"), "filter: {not: {param: [print, sid]}} leaves them out"},
		"both at once":        {shape(100, 1, "/a?t=N", "/a?t=N&print=1 = /a?t=N", "/a?t=N&sid=x = /a?t=N", "/a?t=N&print=1&sid=x = /a?t=N"), "filter: {not: {param: [print, sid]}} leaves them out"},
		"with semicolons":     {shape(30, 8, "/?p=N;a=tree", "/?p=N;a=tree;h=K = /?p=N;a=tree"), "filter: {not: {param: h}} leaves them out"},
		"without values":      {shape(100, 1, "/?topic=N.0", "/?topic=N.0;topicseen = /?topic=N.0"), "filter: {not: {param: topicseen}} leaves them out"},
		"of a repository": {repository(40, 12),
			` pages have ?id= below /tree/ in their address, and 80 % of those visited say what the page without it says; 32 % of the site's visits went to them. filter: {not: {all: [{glob: "**/tree/**"}, {param: id}]}} leaves them out, and with them what 20 % of them alone say, such as https://a.example/x/tree/`},

		"topics":                     {shape(10, 40, "/viewtopic.php?f=N&t=N-K"), ""},
		"topics deleted in one":      {shape(300, 1, "/viewtopic.php?t=N", "/viewtopic.php?t=x-N = /viewtopic.php?t=0"), ""},
		"and in each forum":          {shape(20, 20, "/viewtopic.php?f=N&t=K = /viewtopic.php?f=N&t=0", "/viewtopic.php?f=N&t=x-K"), ""},
		"pages":                      {shape(300, 1, "/index.php", "/index.php?page_id=N"), ""},
		"products sold out":          {shape(100, 1, "/product", "/product?id=N", "/product?id=x-N = /product", "/product?id=y-N = /product"), ""},
		"which lead to the shop":     {shape(100, 1, "/c/N", "/c/N/item?id=K-N", "/c/N/item?id=x-N = /c/N", "/c/N/item?id=y-N = /c/N →"), ""},
		"where all lead to a log-in": {shape(30, 9, "/a/N = /login →", "/a/N?id=K = /login →"), ""},
		"pages of lists":             {shape(30, 9, "/c/N", "/c/N?page=1K", "/c/N?page=1 = /c/N"), ""},
		"a calendar":                 {shape(300, 1, "/cal?month=N"), ""},
		"versions":                   {shape(30, 9, "/w?title=N", "/w?title=N&oldid=N-K", "/w?oldid=N-last&title=N = /w?title=N"), ""},
		"second pages of topics":     {shape(100, 1, "/t?t=N", "/t?t=N&start=0 = /t?t=N", "/t?t=1N&start=20"), ""},
		"of few topics":              {few(shape(100, 1, "/t?t=N", "/t?t=N&start=0 = /t?t=N", "/t?t=77&start=40", "/t?t=78&start=40", "/t?t=79&start=40"), 100), ""},
		"languages":                  {shape(60, 1, "/a/N", "/a/N?lang=en = /a/N", "/a/N?lang=fr = /a/N", "/a/N?lang=de"), ""},
		"of some pages":              {shape(60, 1, "/a/N", "/a/N?lang=en = /a/N", "/b/N", "/b/N?lang=de = /b/N", "/a/N?lang=de"), `filter: {not: {all: [{glob: "**/b/**"}, {param: lang}]}} leaves them out`},
		"sessions alone":             {shape(60, 6, "/t?t=N&sid=0", "/t?t=N&sid=K = /t?t=N&sid=0"), ""},
		"a value's semicolon":        {shape(300, 1, "/a?x=1&q=N", "/a?x=1&q=N;print=1 = /a?x=1&q=N"), ""},
		"not visited yet":            {shape(300, 1, "/a/N", "/a/N?print=1 ?"), ""},
		"few of many":                {few(shape(300, 1, "/a/N", "/a/N?print=1 = /a/N"), 30), ""},
		"few":                        {few(shape(30, 1, "/a/N", "/a/N?print=1 = /a/N"), 19), ""},
		"of one page":                {shape(1, 300, "/a", "/a?utm_source=K = /a"), ""},
		"what no file names plain":   {shape(300, 1, "/a/N", "/a/N?x%5Dy=1 = /a/N"), ""},
	} {
		got := looksFor(t, SampledSite{Site: 3, Pages: int64(len(c.says))}, c.says)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || c.want != "" && !strings.Contains(c.want, "alone") && strings.Contains(got, "alone say") {
			t.Errorf("%s: said %q, want %q", name, got, c.want)
		}
	}
}

// What a site was told of to have too many of it has until there are clearly fewer: a page that goes, one that waits for its visit, and a few variants
// that were not asked since their pages changed are not the end of it, which the next of them would take back.
func TestVariantsAreNoneOnceClearlyFewer(t *testing.T) {
	t.Parallel()
	site := func(pages, variants, own, alone int) map[string]string {
		says := shape(pages, 1, "/a/N")
		for i := range variants {
			url := fmt.Sprintf("https://a.example/a/%d?print=1", i)
			if says[url] = fmt.Sprintf("https://a.example/a/%d", i); i < own {
				says[url] = url
			}
		}
		for i := range alone { // whose page without it is not known
			says[fmt.Sprintf("https://a.example/a/x%d?print=1", i)] = "https://a.example/a/0"
		}
		return says
	}
	for name, c := range map[string]struct {
		says       map[string]string
		said, held bool // of a site that had none, and of one that had
	}{
		"as many":         {site(180, 20, 0, 0), true, true},
		"one page less":   {site(180, 19, 0, 0), false, true},
		"one page more":   {site(181, 20, 0, 0), false, true},
		"some alone":      {site(100, 100, 6, 0), false, true},
		"some not known":  {site(100, 80, 0, 12), false, true},
		"half":            {site(180, 10, 0, 0), false, false},
		"half the share":  {site(700, 40, 0, 0), false, false},
		"a fifth alone":   {site(100, 100, 20, 0), false, false},
		"third not known": {site(100, 60, 0, 30), false, false},
	} {
		if got := looksFor(t, SampledSite{Site: 3, Pages: 300}, c.says); (got != "") != c.said {
			t.Errorf("%s, of a site that had none: said %q", name, got)
		}
		if got := looksFor(t, SampledSite{Site: 3, Pages: 300, HadVariants: true}, c.says); (got != "") != c.held {
			t.Errorf("%s, of a site that had too many: said %q", name, got)
		}
	}
}

// The words have the numbers, as sure as the sample is, and a filter that keeps what the site's own one keeps.
func TestVariantWords(t *testing.T) {
	t.Parallel()
	says := shape(300, 1, "/a/N", "/a/N?print=1 = /a/N")
	for _, c := range []struct {
		of   SampledSite
		want string
	}{
		{SampledSite{Pages: 600}, "300 of 600 pages have ?print= in their address, and 100 % of those visited say what the page without it says; 50 % of the site's visits went to them. filter: {not: {param: print}} leaves them out"},
		{SampledSite{Pages: 24_549}, "about 12,000 of 24,549 pages (50 % of a sample of 600) have "},
		{SampledSite{Pages: 600, Filter: config.Filter{Not: &config.Filter{Extension: []string{"zip"}}}}, "filter: {all: [{not: {extension: zip}}, {not: {param: print}}]} leaves"},
		{SampledSite{Pages: 600, Filter: config.Filter{All: []config.Filter{{Path: []string{"/a/"}}}}}, "filter: {all: [{path: /a/}, {not: {param: print}}]} leaves"},
	} {
		if got := looksFor(t, c.of, says); !strings.Contains(got, c.want) {
			t.Errorf("said %q, want %q", got, c.want)
		}
	}
}

// Whatever a site is made of, a parameter whose every value is a page of its own is never left out, and where nothing is said to be lost, nothing
// is: what a page says that is left out, a page says that stays.
func TestVariantsLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"/", "/a", "/b", "/x/", "/x/tree/a", "/x/tree/b", "/x/log/a", "/y/c"}), 1, 8, rapid.ID).Draw(t, "paths")
		ids, extra := rapid.IntRange(0, 40).Draw(t, "ids"), rapid.SliceOfDistinct(rapid.SampledFrom([]string{"print=1", "sid=1", "sid=2", "lang=de", "h=main"}), rapid.ID).Draw(t, "extra")
		bare, honest := rapid.Bool().Draw(t, "the page without any is there"), rapid.Float64Range(0, 1).Draw(t, "share that says the same")
		says := make(map[string]string)
		for _, path := range paths {
			for i := range ids + 1 {
				own := "https://a.example" + path
				if i > 0 {
					own += fmt.Sprintf("?id=%d", i)
				} else if !bare {
					continue
				}
				says[own] = own
				for _, e := range extra {
					url := own + "?" + e
					if i > 0 {
						url = own + "&" + e
					}
					if says[url] = url; float64(models.PageID(url)%1000) < 1000*honest {
						says[url] = own
					}
				}
			}
		}
		sample, known := sampleOf(says)
		parts, _ := variantParts(sample, known, variantBarOf(rapid.Bool().Draw(t, "was")))
		stays, alone := make(map[string]bool), 0
		for url, as := range says {
			out := false
			for i := range parts {
				out = out || parts[i].has(url)
			}
			stays[as] = stays[as] || !out
		}
		for i := range parts {
			if alone += parts[i].own; parts[i].param == "id" {
				t.Fatalf("id is left out, of %v", says)
			}
		}
		for as, kept := range stays {
			if !kept && alone == 0 {
				t.Fatalf("what %s says is lost without a word, by %+v", as, parts)
			}
		}
	})
}
