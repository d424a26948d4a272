package report

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawld/internal/sorter"
	"recrawld/models"
)

// politeHosts bounds the report: the hosts with most requests.
const politeHosts = 1000

// makePoliteness passes over the history of a bucket after the other, in the order of hosts and times, which a file has sorted: memory is that of
// one host's sums and of the rows. For one host it reads one bucket, for a site those of its hosts.
func makePoliteness(ctx context.Context, store *models.Store, o Options) (Document, error) {
	only, err := politeOnly(ctx, store, o)
	if err != nil {
		return Document{}, fmt.Errorf("report politeness: %w", err)
	}
	var hosts []asked
	for bucket := range int16(models.Buckets) {
		some := only[bucket]
		if only != nil && len(some) == 0 {
			continue
		}
		found, err := askedInBucket(ctx, store, o, bucket, some)
		if err != nil {
			return Document{}, fmt.Errorf("report politeness: %w", err)
		}
		hosts = mostAsked(append(hosts, found...))
	}
	var rows []politeHost
	for _, h := range hosts {
		row := politeHost{asked: h}
		row.host, err = store.Host(ctx, h.bucket, h.id)
		if errors.Is(err, models.ErrNotFound) { // its pages were removed meanwhile, and so is what was asked for them
			continue
		}
		if err == nil {
			row.robots, err = store.HostRobots(ctx, h.bucket, h.id)
		}
		if err != nil {
			return Document{}, fmt.Errorf("report politeness: %w", err)
		}
		rows = append(rows, row)
	}
	return politenessDocument(rows, o), nil
}

// politeOnly are the hosts that are asked for, by bucket; nil: all.
func politeOnly(ctx context.Context, store *models.Store, o Options) (map[int16]map[int64]bool, error) {
	only := make(map[int16]map[int64]bool)
	add := func(bucket int16, id int64) {
		if only[bucket] == nil {
			only[bucket] = make(map[int64]bool)
		}
		only[bucket][id] = true
	}
	switch {
	case o.Host != "":
		bucket, id := models.BucketOf(o.Host), models.HostID(o.Host)
		if _, err := store.Host(ctx, bucket, id); err != nil {
			if errors.Is(err, models.ErrNotFound) {
				err = fmt.Errorf("host %s, as addresses have it, with the port if it is another than the scheme's: %w", o.Host, err)
			}
			return nil, err
		}
		add(bucket, id)
	case o.Site != 0:
		for h, err := range store.SiteHosts(ctx, o.Site) {
			if err != nil {
				return nil, err
			}
			add(h.Bucket, h.ID)
		}
	default:
		return nil, nil
	}
	return only, nil
}

// mostAsked is the hosts with most requests.
func mostAsked(hosts []asked) []asked {
	slices.SortFunc(hosts, func(a, b asked) int {
		return cmp.Or(cmp.Compare(b.requests, a.requests), cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.id, b.id))
	})
	return hosts[:min(len(hosts), politeHosts)]
}

// askedInBucket adds up what was asked of each host of a bucket, or of some (nil: all).
func askedInBucket(ctx context.Context, store *models.Store, o Options, bucket int16, some map[int64]bool) (hosts []asked, err error) {
	sorted := sorter.New("")
	defer sorted.Close()
	one := int64(0)
	if len(some) == 1 {
		for one = range some {
		}
	}
	since := models.At(o.Since)
	if o.Since.IsZero() {
		since = 0
	}
	for v, err := range store.BucketHistory(ctx, bucket, one) {
		if err != nil {
			return nil, err
		}
		if v.At < since || !v.Reached() || some != nil && !some[v.HostID] {
			continue
		}
		if err := sorted.Add(pastEntry(v)); err != nil {
			return nil, err
		}
	}
	run := newAskedRun(o.Now)
	var id int64
	end := func() {
		if run.requests == 0 {
			return
		}
		h := run.sums()
		h.bucket, h.id = bucket, id
		if hosts = append(hosts, h); len(hosts) > 2*politeHosts {
			hosts = mostAsked(hosts)
		}
	}
	for entry, err := range sorted.All() {
		if err != nil {
			return nil, err
		}
		v := pastOf(entry)
		if v.HostID != id {
			end()
			run, id = newAskedRun(o.Now), v.HostID
		}
		run.add(v)
	}
	end()
	return hosts, nil
}

// pastEntry is a visit as it is sorted: by host and time.
func pastEntry(v models.PastVisit) []byte {
	b := make([]byte, 0, 40)
	for _, n := range []int64{v.HostID, int64(v.At), int64(v.Took), v.Bytes} { // none is negative
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	for _, n := range []int16{int16(v.Kind), int16(v.Class), v.Status} {
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	}
	return b
}

func pastOf(b []byte) models.PastVisit {
	long := func(n int) int64 { return int64(binary.BigEndian.Uint64(b[8*n:])) }
	short := func(n int) int16 { return int16(binary.BigEndian.Uint16(b[32+2*n:])) }
	return models.PastVisit{HostID: long(0), At: models.Instant(long(1)), Took: time.Duration(long(2)), Bytes: long(3),
		Kind: models.OutcomeKind(short(0)), Class: models.ErrorClass(short(1)), Status: short(2)}
}

// politeHost is a row of the report.
type politeHost struct {
	asked
	host   models.Host
	robots []models.Robots
}

// inForce is the robots.txt that was read last; nil: none was asked for.
func (h *politeHost) inForce() *models.Robots {
	var newest *models.Robots
	for i := range h.robots {
		if r := &h.robots[i]; newest == nil || r.FetchedAt > newest.FetchedAt {
			newest = r
		}
	}
	return newest
}

func politenessDocument(hosts []politeHost, o Options) Document {
	d := Document{
		Name: "politeness", Title: "Politeness", At: o.Now,
		Columns: []Column{
			{Key: "host", Head: "host", Flex: true},
			{Key: "requests", Head: "requests", Right: true},
			{Key: "robots_requests"},
			{Key: "first_at"}, {Key: "last_at"},
			{Key: "delay_seconds", Head: "delay", Right: true},
			{Key: "gaps"},
			{Key: "gap_least_seconds", Head: "least", Right: true},
			{Key: "gap_p5_seconds", Head: "5 %", Right: true, Drop: 3},
			{Key: "gap_median_seconds", Head: "median", Right: true, Drop: 5},
			{Key: "at_once", Head: "at once", Right: true},
			{Key: "requests_per_day", Head: "a day", Right: true, Drop: 1},
			{Key: "busiest_day"},
			{Key: "busiest_requests", Head: "most", Right: true, Drop: 2},
			{Key: "bytes_per_day", Head: "bytes a day", Right: true, Drop: 4},
			{Key: "told_to_wait", Head: "429, 503", Right: true, Drop: 6},
			{Key: "left_alone_seconds"},
			{Key: "unchanged_share", Head: "304", Right: true, Drop: 7},
			{Key: "robots"}, {Key: "robots_status"}, {Key: "robots_fetched_at"}, {Key: "robots_crawl_delay_seconds"}, {Key: "robots_sha256"},
		},
	}
	d.Lead = politenessLead(hosts, o)
	for i := range hosts {
		d.Rows = append(d.Rows, politenessRow(&hosts[i]))
	}
	if o.Limit > 0 {
		d.More = max(len(d.Rows)-o.Limit, 0)
	}
	if len(hosts) == politeHosts {
		d.Notes = append(d.Notes, "These are the "+Count(politeHosts)+" hosts with most requests; --host NAME shows another.")
	}
	d.Notes = append(d.Notes,
		"least, 5 %, median: from the end of a request to the next, robots.txt included; to a millisecond and 1 %. delay is what is kept now; before, "+
			"it may have been another. at once: the most that were under way at a time.",
		"The history has no request that a crash cut off, that was made once more because a kept connection broke, or that add made; none of pages that were "+
			"removed; and none older than history: keep. 304: of the answers that saw a page; the history does not tell which asked with a condition.")
	return d
}

func politenessRow(h *politeHost) Row {
	row := Row{
		TextCell(h.host.Name), CountCell(h.requests), OnlyValue(h.robotsRequests), OnlyValue(h.first.Time()), OnlyValue(h.last.Time()),
		{Value: h.host.Delay.Seconds(), Text: Span(h.host.Delay)}, OnlyValue(h.gaps), h.gapCell(h.least), h.gapCell(h.p5), h.gapCell(h.median),
		CountCell(int64(h.atOnce)), {Value: h.perDay, Text: rounded(h.perDay)}, OnlyValue(h.busiest.Format(time.DateOnly)), CountCell(h.busiestRequests),
		BytesCell(h.bytesPerDay), CountCell(h.toldToWait), waitCell(h), ShareCell(h.notModified, h.seen),
	}
	r := h.inForce()
	if r == nil {
		return append(row, OnlyValue("not asked"), OnlyValue(nil), OnlyValue(nil), OnlyValue(nil), OnlyValue(nil))
	}
	digest := OnlyValue(nil)
	if r.Body != nil {
		digest = OnlyValue(models.DigestOf(r.Body).String())
	}
	return append(row, OnlyValue(robotsWords(models.HostSummary{RobotsStatus: r.Status, RobotsClass: r.Class})), OnlyValue(int64(r.Status)),
		OnlyValue(r.FetchedAt.Time()), OnlyValue(r.CrawlDelay.Seconds()), digest)
}

// gapCell is a length of the gaps, nothing where there is none.
func (h *politeHost) gapCell(gap time.Duration) Cell {
	if h.gaps == 0 {
		return OnlyValue(nil)
	}
	return Cell{Value: gap.Seconds(), Text: Span(gap)}
}

func waitCell(h *politeHost) Cell {
	if h.waits == 0 {
		return OnlyValue(nil)
	}
	return OnlyValue(h.leftAlone.Seconds())
}

// rounded is a number of requests a day.
func rounded(perDay float64) string {
	if perDay < 10 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", perDay), ".0")
	}
	return Count(int64(perDay + 0.5))
}

// politenessLead says who asks, and of one host what else its owner may ask for.
func politenessLead(hosts []politeHost, o Options) []string {
	var lead []string
	if o.Agent != "" {
		contact := "no contact is given"
		if o.Contact != "" {
			contact = "contact " + o.Contact
		}
		lead = append(lead, fmt.Sprintf("asks as %s, %s", o.Agent, contact))
	}
	if o.Host == "" || len(hosts) != 1 {
		return lead
	}
	h := &hosts[0]
	lead = append(lead, fmt.Sprintf("%s since %s, %s of them for robots.txt; %s on %s", Plural(h.requests, "request"), Moment(o.Now, h.first.Time()),
		Count(h.robotsRequests), Plural(h.busiestRequests, "request"), h.busiest.Format("2 January 2006")))
	if h.gaps > 0 {
		lead = append(lead, fmt.Sprintf("between them, from the end of one to the next: %s at least, %s or less 1 time in 20, %s in the median; %s is kept now",
			Span(h.least), Span(h.p5), Span(h.median), Span(h.host.Delay)))
	}
	lead = append(lead, fmt.Sprintf("%s received a day; of %s that saw a page %s with 304", Bytes(h.bytesPerDay), Plural(h.seen, "answer"), Count(h.notModified)))
	if h.toldToWait > 0 {
		words := "nothing was asked since the last of them"
		if h.waits > 0 {
			words = "after them it was left alone for " + Span(h.leftAlone) + " at least"
		}
		lead = append(lead, fmt.Sprintf("%s with 429 or 503; %s", Plural(h.toldToWait, "answer"), words))
	}
	for i := range h.robots {
		lead = append(lead, robotsLead(&h.robots[i], o.Now))
	}
	return lead
}

// robotsLead says what is known of a robots.txt.
func robotsLead(r *models.Robots, now time.Time) string {
	words := []string{fmt.Sprintf("%s (%d), asked for %s", robotsWords(models.HostSummary{RobotsStatus: r.Status, RobotsClass: r.Class}), r.Status,
		Until(now, r.FetchedAt.Time()))}
	if r.CrawlDelay > 0 {
		words = append(words, "Crawl-delay of "+Span(r.CrawlDelay)+" obeyed")
	}
	if r.Body != nil {
		words = append(words, "rules in force: "+Plural(len(r.Body), "byte")+", SHA-256 "+models.DigestOf(r.Body).String()[:16]+"…")
	} else {
		words = append(words, "no rules in force")
	}
	return fmt.Sprintf("robots.txt of %s: %s", r.Origin, strings.Join(words, "; "))
}
