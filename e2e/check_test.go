package e2e

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"recrawld/archive"
	"recrawld/internal/origin"
	"recrawld/models"
)

// matched is a visit with the request that the origin saw of it.
type matched struct {
	url   string
	page  int64
	visit visitRow
	entry origin.Entry
}

// match finds for every visit that asked the request that it made: the one that the origin saw between the visit's
// time and the next one's. It fails the test where there is none. Requests without a visit are returned too: they are
// those of a daemon that was killed before it could write down what it had seen.
func (r *rehearsal) match(s state, entries []origin.Entry) (found []matched, orphans []origin.Entry) {
	r.t.Helper()
	byURL := map[string][]origin.Entry{}
	for _, e := range entries {
		if !e.Robots() && !isProbe(e) {
			byURL[e.URL()] = append(byURL[e.URL()], e)
		}
	}
	var troubles []string
	for url, list := range byURL {
		id := s.byURL[url]
		asked := slices.DeleteFunc(slices.Clone(s.visits[id]), func(v visitRow) bool { return !v.kind.Asked() })
		slices.SortFunc(list, func(a, b origin.Entry) int { return a.Start.Compare(b.Start) })
		for i, v := range asked {
			from, to := v.at.Time(), time.Time{}
			if i+1 < len(asked) {
				to = asked[i+1].at.Time()
			}
			for len(list) > 0 && list[0].Start.Before(from) {
				orphans, list = append(orphans, list[0]), list[1:]
			}
			if len(list) == 0 || (!to.IsZero() && !list[0].Start.Before(to)) {
				troubles = append(troubles, fmt.Sprintf("visit %d of %s at %v (%v): the origin saw no request", v.number, url,
					v.at, v.kind))
				continue
			}
			found = append(found, matched{url: url, page: id, visit: v, entry: list[0]})
			list = list[1:]
		}
		orphans = append(orphans, list...)
	}
	complain(r.t, "visits without a request", troubles)
	return found, orphans
}

// isProbe tells the requests for names that do not exist, which teach what a host answers for those, and for sitemaps, of which no host has one.
func isProbe(e origin.Entry) bool {
	return strings.Contains(e.Path, "/recrawld-probe-") || e.Path == "/sitemap.xml"
}

// checkProbes holds the probes that the origin saw against those in the history, and each host's against each other: one of each a
// month at most.
func (r *rehearsal) checkProbes(s state, entries []origin.Entry) {
	r.t.Helper()
	const every = 30 * 24 * time.Hour
	last := map[string]time.Time{}
	seen, known := 0, 0
	for _, e := range entries {
		if !isProbe(e) {
			continue
		}
		seen++
		what := fmt.Sprint(e.Host, e.Path == "/sitemap.xml")
		if gap := e.Start.Sub(last[what]); !last[what].IsZero() && gap < every-48*time.Hour {
			r.t.Errorf("%s was probed for %s twice within %v", e.Host, e.Path, gap)
		}
		last[what] = e.Start
	}
	for _, visits := range s.visits {
		for _, v := range visits {
			if v.kind == models.Probed {
				known++
			}
		}
	}
	if seen == 0 || seen != known {
		r.t.Errorf("the origin saw %d probes, the history has %d", seen, known)
	}
	r.report("probes: %d of %d names of hosts in %v", seen, len(last), r.end.Sub(r.anchor.At).Round(24*time.Hour))
}

// checkVisits holds every visit against what it was answered: the status, the kind, and the digest of the version that
// is current after it.
func (r *rehearsal) checkVisits(s state, visits []matched) {
	r.t.Helper()
	kinds := map[models.OutcomeKind]int{}
	var troubles []string
	for _, m := range visits {
		kinds[m.visit.kind]++
		if m.visit.status != m.entry.Status {
			troubles = append(troubles, fmt.Sprintf("visit %d of %s has status %d, the origin answered %d", m.visit.number,
				m.url, m.visit.status, m.entry.Status))
		}
		if notModified := m.entry.Status == http.StatusNotModified; notModified != (m.visit.kind == models.NotModified) {
			troubles = append(troubles, fmt.Sprintf("visit %d of %s is %v, the origin answered %d", m.visit.number, m.url,
				m.visit.kind, m.entry.Status))
		}
		if !m.visit.kind.Observed() {
			continue
		}
		if got := s.versions[m.page][m.visit.version].digest; got != m.entry.Digest {
			troubles = append(troubles, fmt.Sprintf("visit %d of %s (%v): version %d has digest %.12s, the origin served %.12s",
				m.visit.number, m.url, m.visit.kind, m.visit.version, got, m.entry.Digest))
		}
	}
	complain(r.t, "visits that disagree with the origin", troubles)
	r.report("visits that asked: %d, each matched with its request: %v", len(visits), kindsText(kinds))
}

func kindsText(kinds map[models.OutcomeKind]int) string {
	text := ""
	for k := models.NotModified; k <= models.Interrupted; k++ {
		if kinds[k] > 0 {
			text += fmt.Sprintf(", %v %d", k, kinds[k])
		}
	}
	return text[min(2, len(text)):]
}

// checkServed makes sure that every body served is kept: the versions of a page are exactly the bodies that its visits
// were answered, in order.
func (r *rehearsal) checkServed(s state, visits []matched) {
	r.t.Helper()
	perPage := map[int64][]origin.Entry{}
	for _, m := range visits {
		if m.entry.Status == http.StatusOK && m.visit.kind.Observed() {
			perPage[m.page] = append(perPage[m.page], m.entry)
		}
	}
	var troubles []string
	served := 0
	for page, entries := range perPage {
		slices.SortFunc(entries, func(a, b origin.Entry) int { return a.Start.Compare(b.Start) })
		entries = slices.CompactFunc(entries, func(a, b origin.Entry) bool { return a.Digest == b.Digest })
		served += len(entries)
		kept := s.versions[page]
		if len(kept) != len(entries) {
			troubles = append(troubles, fmt.Sprintf("%s has %d versions, %d were served", s.pages[page].url, len(kept), len(entries)))
			continue
		}
		for i, e := range entries {
			if got := kept[int32(i+1)].digest; got != e.Digest {
				troubles = append(troubles, fmt.Sprintf("%s: version %d has digest %.12s, want %.12s", s.pages[page].url, i+1, got, e.Digest))
			}
		}
	}
	complain(r.t, "pages whose versions are not what was served", troubles)
	r.report("versions served and stored with the right digest: %d of %d pages", served, len(perPage))
}

// checkArchive reads every version's body from the archive and hashes it.
func (r *rehearsal) checkArchive(s state) {
	r.t.Helper()
	var versions []versionRow
	for _, list := range s.versions {
		for _, v := range list {
			versions = append(versions, v)
		}
	}
	complain(r.t, "versions that the archive cannot give back", r.unreadable(versions))
	r.report("versions read back from the WARC segments with the right SHA-256: %d", len(versions))
}

// unreadable lists the versions whose body the archive does not give back.
func (r *rehearsal) unreadable(versions []versionRow) (troubles []string) {
	r.t.Helper()
	slices.SortFunc(versions, func(a, b versionRow) int {
		return cmp.Or(cmp.Compare(a.record.File, b.record.File), cmp.Compare(a.record.Offset, b.record.Offset))
	})
	reader, err := archive.OpenReader(r.data() + "/archive")
	if err != nil {
		r.t.Fatal(err)
	}
	defer reader.Close()
	for _, v := range versions {
		answer, err := reader.Read(v.record)
		if err != nil {
			troubles = append(troubles, err.Error())
			continue
		}
		sum := sha256.Sum256(answer.Body)
		if got := hex.EncodeToString(sum[:]); got != v.digest {
			troubles = append(troubles, fmt.Sprintf("%v has digest %.12s, want %.12s", v.record, got, v.digest))
		}
	}
	return troubles
}

// checkConditions makes sure that 304 was counted where validators allow it and there alone, and that pages with
// validators were asked conditionally, but for parents whose links were to be read again and for audits.
func (r *rehearsal) checkConditions(s state, entries []origin.Entry, visits []matched) {
	r.t.Helper()
	tally := r.corpus.Count(entries)
	counted := 0
	for _, m := range visits {
		if m.visit.kind == models.NotModified {
			counted++
		}
	}
	complain(r.t, "answers 304 without reason", tally.Unfounded)
	if tally.NotModified == 0 || counted != tally.NotModified {
		r.t.Errorf("the origin answered 304 %d times, the daemon counted %d", tally.NotModified, counted)
	}
	full, parents, audits := 0, 0, 0
	for url, n := range tally.Unconditional {
		if !r.parent(s, url) {
			audits += n // of its validators: one in a hundred visits, and one a host and month
			continue
		}
		full, parents = full+n, parents+1
	}
	if audits > tally.Repeats/50 {
		r.t.Errorf("pages that have validators and never had children were asked %d times without a condition, of %d times in all",
			audits, tally.Repeats)
	}
	if full > tally.Repeats*3/10 { // it was 0.19 to 0.22
		r.t.Errorf("pages that have validators and children were asked %d times without a condition, of %d times in all", full, tally.Repeats)
	}
	r.report("origin: %d requests (%d for robots.txt), 200: %d, 304: %d (counted by the daemon: %d), 404: %d, other: %d; %.1f MB sent",
		tally.Requests, tally.Robots, tally.OK, tally.NotModified, counted, tally.Missing, tally.Redirects+tally.Other,
		float64(tally.Bytes)/1e6)
	r.report("repeated requests to pages with validators: %d, of them without a condition %d of %d parents and %d of others",
		tally.Repeats, full, parents, audits)
}

// parent tells whether any version of a page links to a page of its host that the daemon knows.
func (r *rehearsal) parent(s state, page string) bool {
	r.t.Helper()
	base, err := url.Parse(page)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, v := range r.corpus.Lookup(page).Versions {
		body, err := v.Body()
		if err != nil {
			r.t.Fatal(err)
		}
		for _, href := range hrefs.FindAllSubmatch(body, -1) {
			link, err := base.Parse(html.UnescapeString(string(href[1])))
			if err == nil && s.byURL[link.Scheme+"://"+link.Host+link.RequestURI()] != 0 {
				return true
			}
		}
	}
	return false
}

var hrefs = regexp.MustCompile(`href="([^"]*)"`)

// rulesHold is how old rules may be when a visit sets out: a day, an hour, and as much of the history as passes while a busy machine keeps
// the answer that brings the rules from going on.
func (r *rehearsal) rulesHold() time.Duration {
	const kept = 50 * time.Millisecond
	return 25*time.Hour + time.Duration(float64(kept)*r.anchor.Speed)
}

// setOut is when the requests of visits were set out to be made, by their number in the origin's log. A second that a busy machine takes to
// send one is 22 days of the history, in which a site may have forbidden it.
func setOut(visits []matched) map[int]time.Time {
	at := map[int]time.Time{}
	for _, m := range visits {
		at[m.entry.Seq] = m.visit.at.Time()
	}
	return at
}

// checkPoliteness holds the origin's log against delays and robots.txt.
func (r *rehearsal) checkPoliteness(entries []origin.Entry, visits []matched) {
	r.t.Helper()
	p := r.corpus.CheckPoliteness(entries, delay, r.rulesHold(), setOut(visits))
	complain(r.t, "delays not kept", p.Breaches)
	complain(r.t, "requests that robots.txt forbids", p.Forbidden)
	if p.MaxInFlight > 1 {
		r.t.Errorf("%d requests to one host at once, want 1", p.MaxInFlight)
	}
	if p.Gaps == 0 {
		r.t.Error("the origin saw no two requests to one host")
	}
	r.report("politeness: %d gaps on %d hosts, shortest %v (wanted %v or the host's Crawl-delay), tightest %.2f of what was wanted; "+
		"%d in flight to one host at most; 0 forbidden requests", p.Gaps, len(r.corpus.Hosts), p.Shortest.Round(time.Second), delay,
		p.Tightest, p.MaxInFlight)
}

// checkSpread makes sure that quick and still pages are visited at different intervals: it compares the quarter of the
// pages whose visible text changes most often in the world with the quarter where it changes least. A page's interval is
// the mean of what the later half of its visits left as fr_max: the one that stands in the end hangs on each page's last few
// visits, and follows weeks in which the world stood still.
func (r *rehearsal) checkSpread(visits []matched) {
	r.t.Helper()
	pages := r.paces(visits)
	if len(pages) < 8 {
		r.t.Fatalf("only %d pages were visited often enough to compare", len(pages))
	}
	means := func(list []pace) (changes, interval float64) {
		for _, p := range list {
			changes += float64(p.changes) / float64(len(list))
			interval += p.interval / float64(len(list))
		}
		return changes, interval
	}
	quarter := len(pages) / 4
	stillChanges, still := means(pages[:quarter])
	quickChanges, quick := means(pages[len(pages)-quarter:])
	if quick*1.5 > still {
		r.t.Errorf("mean interval of the quickest quarter is %.1f cycles, of the stillest %.1f: not far enough apart", quick, still)
	}
	r.report("interval in the later half of the visits, mean of %d pages each: stillest quarter %.1f cycles (%.1f changes of text a page), "+
		"quickest %.1f (%.1f), %.2f times", quarter, still, stillChanges, quick, quickChanges, still/quick)
}

// pace is how often the visible text of a page changes in the world, and its interval in cycles.
type pace struct {
	url      string
	changes  int
	interval float64
}

// paces lists the pages that were visited ten times or more, the stillest first, without the start pages.
func (r *rehearsal) paces(visits []matched) (pages []pace) {
	r.t.Helper()
	left := map[string][]int32{}
	for _, m := range visits {
		if m.visit.kind.Observed() {
			left[m.url] = append(left[m.url], m.visit.frMax)
		}
	}
	for url, list := range left {
		page := r.corpus.Lookup(url)
		if len(list) < 10 || page == nil || page.Path == "/" {
			continue
		}
		changes, err := page.TextChanges()
		if err != nil {
			r.t.Fatal(err)
		}
		later, sum := list[len(list)/2:], 0.0
		for _, frMax := range later {
			sum += float64(frMax)
		}
		pages = append(pages, pace{url, changes, sum / float64(len(later))})
	}
	slices.SortFunc(pages, func(a, b pace) int { return cmp.Or(cmp.Compare(a.changes, b.changes), cmp.Compare(a.url, b.url)) })
	return pages
}
