package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawld/models"
)

// hintHosts bounds the report: of more hosts only those with a hint that is not trusted are kept beside the first so many.
const hintHosts = 10_000

// makeHints reads the ledgers of all hosts, or of those with pages of a site.
func makeHints(ctx context.Context, store *models.Store, o Options) (Document, error) {
	var hosts []models.Host
	left := 0
	for h, err := range store.TrialedHosts(ctx, o.Site) {
		switch {
		case err != nil:
			return Document{}, fmt.Errorf("report hints: %w", err)
		case len(hosts) >= hintHosts && distrusted(h.Trials) == 0:
			left++
		default:
			hosts = append(hosts, h)
		}
	}
	d := hintDocument(hosts, left, o)
	hubs, err := store.Subscriptions(ctx)
	if err != nil {
		return Document{}, fmt.Errorf("report hints: %w", err)
	}
	if words := hubWords(hubs, o); words != "" {
		d.Notes = append(d.Notes, words)
	}
	return d, nil
}

// hubWords says how many of the hubs that feeds name tell of changes; "" where none is named.
func hubWords(hubs []models.Subscription, o Options) string {
	all, verified, pushes, last := 0, 0, int64(0), models.Instant(0)
	for i := range hubs {
		h := &hubs[i]
		if o.Site != 0 && h.SiteID != o.Site {
			continue
		}
		if all++; h.Verified(models.At(o.Now)) {
			verified++
		}
		pushes, last = pushes+h.Pushes, max(last, h.PushedAt)
	}
	if all == 0 {
		return ""
	}
	words := fmt.Sprintf("%s of %s that feeds name tell of changes (WebSub)", Count(verified), Plural(all, "hub"))
	if last != 0 {
		words += fmt.Sprintf("; they told %s, the last %s", Plural(pushes, "time"), Until(o.Now, last.Time()))
	}
	return words + "."
}

// distrusted counts the hints of a host that are not used.
func distrusted(t models.Trials) int {
	n := 0
	for _, trial := range t.By {
		if trial.DistrustedAt != 0 {
			n++
		}
	}
	return n
}

// hintDocument lists what was found of each hint of each host, hosts with a hint that is not trusted first, then those of
// which most was found. left is how many hosts are not among them.
func hintDocument(hosts []models.Host, left int, o Options) Document {
	slices.SortFunc(hosts, func(a, b models.Host) int {
		return cmp.Or(cmp.Compare(min(distrusted(b.Trials), 1), min(distrusted(a.Trials), 1)),
			cmp.Compare(findings(b.Trials), findings(a.Trials)), strings.Compare(a.Name, b.Name))
	})
	d := Document{Name: "hints", Title: "What servers' hints are worth", At: o.Now, Columns: []Column{
		{Key: "host"}, {Head: "host", Flex: true}, {Key: "hint", Head: "hint"},
		{Key: "hits", Head: "right", Right: true}, {Key: "misses", Head: "missed", Right: true},
		{Key: "false_alarms", Head: "false", Right: true}, {Key: "late", Head: "late", Right: true},
		{Key: "trusted"}, {Head: "now"}, {Key: "since"}, {Key: "distrusted_at"}, {Key: "why"},
		{Key: "audited_at", Head: "tried", Right: true, Drop: 1}, {Key: "visits_since_audit"}, {Key: "probed_at"},
	}}
	hints, lying := 0, 0
	for _, h := range hosts {
		rows := hintRows(h, o.Now)
		d.Rows = append(d.Rows, rows...)
		hints, lying = hints+len(rows), lying+distrusted(h.Trials)
	}
	if o.Limit > 0 {
		d.More = max(len(d.Rows)-o.Limit, 0)
	}
	if hints == 0 {
		d.Lead = []string{noHints(len(hosts))}
		return d
	}
	d.Lead = []string{fmt.Sprintf("%s of %s on trial; %s", Plural(hints, "hint"), Plural(len(hosts)+left, "host"), lyingWords(lying))}
	for _, h := range hosts {
		d.Lead = append(d.Lead, Reproaches(h, o.Now)...)
	}
	if most := 1 + reproachesShown; len(d.Lead) > most {
		d.Lead = d.Lead[:most]
	}
	d.Notes = append(d.Notes, "Right: it said unchanged, or changed, and so it was. Missed: it said unchanged, and the content had changed. "+
		"False: it said changed, and the bytes were the same (of a sitemap, a feed, IndexNow or WebSub: nothing that matters had changed). Late: it promised what did not hold as long, or named a time that cannot be. "+
		"Counted since it was last trusted anew.")
	if left > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s of which all is trusted are not listed.", Plural(left, "further host")))
	}
	return d
}

func noHints(hosts int) string {
	if hosts == 0 {
		return "Nothing was found yet: hints prove right or wrong by visits to pages that are known, some of them made for that (audit)."
	}
	return fmt.Sprintf("Nothing was found yet of %s: their answers gave no hint that could prove right or wrong.", Plural(hosts, "host"))
}

func lyingWords(n int) string {
	switch n {
	case 0:
		return "all are trusted"
	case 1:
		return "1 is not trusted and not used"
	}
	return Count(n) + " are not trusted and not used"
}

// findings is how often a host's hints were held against what was so.
func findings(t models.Trials) int {
	n := 0
	for i := range t.By {
		n += found(&t.By[i])
	}
	return n
}

func found(t *models.Trial) int {
	return int(t.Hits) + int(t.Misses) + int(t.FalseAlarms) + int(t.Late)
}

// hintRows has a row for each hint that was found right or wrong, or is not trusted. A person reads the host's name on the
// first.
func hintRows(h models.Host, now time.Time) []Row {
	var rows []Row
	for i := range h.Trials.By {
		t := &h.Trials.By[i]
		if found(t) == 0 && t.DistrustedAt == 0 {
			continue
		}
		name, audited := h.Name, Cell{Value: h.Trials.AuditedAt.Time(), Text: Until(now, h.Trials.AuditedAt.Time())}
		if len(rows) > 0 {
			name, audited.Text = "", ""
		}
		state := Cell{Text: "trusted", Tone: Good}
		if t.DistrustedAt != 0 {
			state = Cell{Text: "not used for " + Span(now.Sub(t.DistrustedAt.Time())), Tone: Bad}
		}
		rows = append(rows, Row{
			OnlyValue(h.Name), OnlyText(name), {Value: models.Hint(i).String(), Text: hintNames[i]},
			CountCell(int64(t.Hits)), faultCell(t.Misses, Bad), faultCell(t.FalseAlarms, Warn), faultCell(t.Late, Warn),
			OnlyValue(t.DistrustedAt == 0), state, OnlyValue(t.Since.Time()), OnlyValue(t.DistrustedAt.Time()),
			OnlyValue(reproach(models.Hint(i), t)),
			audited, OnlyValue(h.Trials.Visits), OnlyValue(h.Trials.ProbedAt.Time()),
		})
	}
	return rows
}

// reproachesShown is how many hints a person is told of in words.
const reproachesShown = 12

// Reproaches say of each hint of a host that is not used since when and why: "example.org: 304 is not used since Thu 19 Nov
// 12:00: it came for content that had changed (2 of 33 times)."
func Reproaches(h models.Host, now time.Time) []string {
	var words []string
	for i := range h.Trials.By {
		t := &h.Trials.By[i]
		if t.DistrustedAt == 0 {
			continue
		}
		sentence := fmt.Sprintf("%s: %s is not used since %s", h.Name, hintNames[i], Moment(now, t.DistrustedAt.Time()))
		if why := reproach(models.Hint(i), t); why != "" {
			sentence += ": it " + why
		}
		words = append(words, sentence+".")
	}
	return words
}

// hintNames are the hints as a person knows them, by models.Hint.
var hintNames = [...]string{models.HintETag: "ETag", models.HintLastModified: "Last-Modified", models.HintExpires: "Expires, max-age",
	models.HintNotModified: "304", models.HintSitemap: "sitemap, feed", models.HintAnnounced: "IndexNow, WebSub",
	models.HintStale: "stale cache", models.HintNamed: "named though gone"}

func faultCell(n uint16, tone Tone) Cell {
	c := CountCell(int64(n))
	if n > 0 {
		c.Tone = tone
	}
	return c
}

// faults say what a hint did wrong, by models.Hint and models.Verdict.
var faults = [...][4]string{
	models.HintETag: {models.HintMiss: "stayed the same for other content", models.HintFalseAlarm: "was another for the same bytes",
		models.HintLate: "named what cannot be"},
	models.HintLastModified: {models.HintMiss: "stayed the same for other content", models.HintFalseAlarm: "was another for the same bytes",
		models.HintLate: "named times that cannot be"},
	models.HintExpires: {models.HintMiss: "promised what did not hold", models.HintFalseAlarm: "ran out with the same bytes",
		models.HintLate: "promised what did not hold"},
	models.HintNotModified: {models.HintMiss: "came for content that had changed", models.HintFalseAlarm: "did not come for the same bytes",
		models.HintLate: "came for content that had changed"},
	models.HintSitemap: {models.HintMiss: "said nothing of a change", models.HintFalseAlarm: "told of a change that was none",
		models.HintLate: "told too late"},
	models.HintAnnounced: {models.HintMiss: "said nothing of a change", models.HintFalseAlarm: "told of a change that was none",
		models.HintLate: "told too late"},
	models.HintStale: {models.HintFalseAlarm: "gave out the same once more"},
	models.HintNamed: {models.HintFalseAlarm: "named pages that were gone and not there again"},
}

// reproach says what a hint did wrong, what is worst first: "stayed the same for other content (12 of 912 times)"; "" where
// that is nothing.
func reproach(hint models.Hint, t *models.Trial) string {
	var words []string
	for verdict, n := range []uint16{models.HintMiss: t.Misses, models.HintFalseAlarm: t.FalseAlarms, models.HintLate: t.Late} {
		if n > 0 {
			words = append(words, fmt.Sprintf("%s (%s of %s)", faults[hint][verdict], Count(int(n)), Plural(found(t), "time")))
		}
	}
	return strings.Join(words, " and ")
}
