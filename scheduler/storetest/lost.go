package storetest

import (
	"slices"
	"time"

	"recrawld/models"
)

var (
	lostBody   = models.DigestOf([]byte("lost"))
	lostRecord = models.Record{File: "recrawld-w-20260101000000-00001.warc.gz", Offset: 1 << 33, Length: 77}
	newRecord  = models.Record{File: "recrawld-w-20260201000000-00002.warc.gz", Offset: 400, Length: 78}
)

// losing are the cases of bodies that the archive has lost.
func losing() map[string]func(*world) {
	return map[string]func(*world){
		"what the archive has lost is noted once":      lostIsNoted,
		"what is lost and counts for more comes first": lostIsInOrder,
		"what was lost is there again":                 lostIsRegained,
	}
}

// withBody makes a result bring a version of the lost body.
func withBody(r models.Result, record models.Record) models.Result {
	r.Page.Version, r.Page.Digest = r.Page.Version+1, lostBody
	r.Version = &models.Version{Number: r.Page.Version, At: r.Visit.At, Digest: lostBody, Record: record}
	r.Content = &models.Content{Digest: lostBody, Record: record, URL: r.Page.URL, At: r.Visit.At}
	return r
}

// shared visits two pages of each of two hosts, which all have the body, and returns what the database says of them.
func (w *world) shared() []models.Kept {
	w.Helper()
	w.add("a.example", 2)
	w.add("b.example", 2)
	for _, lease := range w.claim(2, 2) {
		for i, r := range w.visitAll(lease) {
			if i == 1 { // it has had another body since
				r = withBody(r, lostRecord)
				r.Page.Version++
			} else {
				r = withBody(r, lostRecord)
			}
			w.mustCommit(r)
		}
	}
	kept := w.kept()
	if len(kept) != 4 {
		w.Fatalf("%d versions are kept, want 4: %+v", len(kept), kept)
	}
	return kept
}

func (w *world) kept() (all []models.Kept) {
	w.Helper()
	for k, err := range w.store.KeptVersions(w.Context(), 0) {
		w.must(err)
		all = append(all, k)
	}
	return all
}

// lostIsNoted: what the archive has lost is said of the versions and of the pages whose newest they are, and asked for once.
func lostIsNoted(w *world) {
	kept := w.shared()
	w.now = w.now.Add(time.Hour)
	elsewhere := slices.Clone(kept)
	for i := range elsewhere {
		elsewhere[i].Record = newRecord // as if they had been moved since
	}
	for _, c := range []struct {
		lost []models.Kept
		want int
	}{{elsewhere, 0}, {kept, 2}, {kept, 0}} {
		w.must(w.store.LoseContents(w.Context(), c.lost))
		if n, err := w.store.LoseVersions(w.Context(), w.now, c.lost); n != c.want || err != nil {
			w.Errorf("LoseVersions at %s = %d, %v, want %d", c.lost[0].Record.File, n, err, c.want)
		}
		seen, err := w.store.Contents(w.Context(), []models.Digest{lostBody})
		w.must(err)
		if known, want := len(seen) == 1, c.lost[0].Record == newRecord; known != want {
			w.Errorf("the body is known: %v, want %v", known, want)
		}
	}
	if n, err := w.store.LostPages(w.Context()); n != 2 || err != nil {
		w.Errorf("LostPages = %d, %v, want 2", n, err)
	}
	for _, k := range w.kept() {
		if !k.Record.Lost() || k.Record.Offset != lostRecord.Offset || k.Digest != lostBody {
			w.Errorf("version %+v is not lost", k)
		}
	}
	for _, p := range w.dump().Pages {
		if newest := p.Version == 1; p.Lost != newest || newest && (p.Rule != models.RuleLost || p.DueAt != models.At(w.now)) {
			w.Errorf("%s with version %d: lost %v, due at %v by %v", p.URL, p.Version, p.Lost, p.DueAt, p.Rule)
		}
	}
}

// lostIsInOrder: of pages that are lost at once those that count for more are due before the others, and what a person asked for stays
// his wish.
func lostIsInOrder(w *world) {
	w.add("a.example", 4)
	importance := map[int64]float32{}
	wished := models.Page{}
	for i, r := range w.visitAll(w.claim(1, 4)[0]) {
		worth := models.Worth{Bucket: r.Page.Bucket, PageID: r.Page.ID, Importance: []float32{0, 8, 0.5, 1e9}[i]}
		w.mustCommit(withBody(r, lostRecord))
		w.must(w.store.SetImportance(w.Context(), []models.Worth{worth}))
		importance[worth.PageID], wished = worth.Importance, r.Page
	}
	w.now = w.now.Add(time.Hour)
	w.must(w.store.VisitNow(w.Context(), w.now, wished.Bucket, wished.ID))
	if n, err := w.store.LoseVersions(w.Context(), w.now, w.kept()); n != 4 || err != nil {
		w.Errorf("LoseVersions = %d, %v, want 4", n, err)
	}
	want := map[float32]time.Duration{0: 0, 8: -3 * time.Minute, 0.5: time.Minute}
	for _, p := range w.dump().Pages {
		if p.ID == wished.ID {
			if p.Rule != models.RuleManual || !p.Lost {
				w.Errorf("what a person asked for is due by %v, lost %v", p.Rule, p.Lost)
			}
		} else if got := p.DueAt.Time().Sub(w.now); p.Rule != models.RuleLost || got != want[importance[p.ID]] {
			w.Errorf("of importance %v: due %v from now by %v, want %v", importance[p.ID], got, p.Rule, want[importance[p.ID]])
		}
	}
}

// lostIsRegained: a visit brings the body of the newest version back, for all versions of its page that had it.
func lostIsRegained(w *world) {
	kept := w.shared()
	w.now = w.now.Add(time.Hour)
	w.must(w.store.LoseContents(w.Context(), kept))
	_, err := w.store.LoseVersions(w.Context(), w.now, kept)
	w.must(err)
	leases := w.claim(2, 2)
	if len(leases) != 2 {
		w.Fatalf("%d leases, want one for each host", len(leases))
	}
	for _, lease := range leases {
		r := w.visited(lease, 0)
		if !r.Page.Lost {
			w.Fatalf("%s is leased and not lost", r.Page.URL)
		}
		w.mustCommit(r) // of a visit that failed: it stays lost
		if p := w.pageOf(r); !p.Lost {
			w.Errorf("%s is not lost after a visit without its body", p.URL)
		}
		r.Page.Visits, r.Visit.Number, r.Before = r.Page.Visits+1, r.Visit.Number+1, nil
		r.Regained = true
		r.Version = &models.Version{Number: 1, At: r.Visit.At, Digest: lostBody, Record: newRecord}
		w.mustCommit(r)
		w.mustCommit(r)
		if p := w.pageOf(r); p.Lost || p.Version != 1 {
			w.Errorf("%s is lost: %v, at version %d; want version 1 regained", p.URL, p.Lost, p.Version)
		}
	}
	var lost []models.Kept
	for _, k := range w.kept() {
		if k.Record.Lost() {
			lost = append(lost, k)
		} else if k.Record != newRecord {
			w.Errorf("version %+v does not lie where it was stored anew", k)
		}
	}
	if len(lost) != 2 {
		w.Errorf("lost are %+v, want the two of the pages that were not visited", lost)
	}
	found := models.Content{Digest: lostBody, Record: newRecord, URL: "https://a.example/", At: models.At(w.now)}
	w.must(w.store.FindVersions(w.Context(), lost, found))
	w.must(w.store.FindVersions(w.Context(), lost, found))
	for _, k := range w.kept() {
		if k.Record != newRecord {
			w.Errorf("version %+v does not lie where its body was found", k)
		}
	}
}

func (w *world) pageOf(r models.Result) models.Page {
	w.Helper()
	for _, p := range w.dump().Pages {
		if p.Bucket == r.Page.Bucket && p.ID == r.Page.ID {
			return p
		}
	}
	w.Fatalf("no page %s", r.Page.URL)
	return models.Page{}
}
