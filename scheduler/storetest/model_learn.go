package storetest

import (
	"cmp"
	"slices"
	"time"

	"pgregory.net/rapid"

	"recrawld/models"
)

// claimAhead claims what is due next as a worker with a visit to spare does, or anything that is due within a while.
func (p *pair) claimAhead(t *rapid.T) {
	limit := rapid.IntRange(0, 3).Draw(t, "buckets")
	a := both(p, "Ahead", func(s Store) ([]models.BucketReady, error) { return s.Ahead(p.ctx, p.now, limit) })
	ahead := p.now.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "seconds")) * time.Second)
	if len(a) > 0 && rapid.Bool().Draw(t, "next") {
		ahead = a[len(a)-1].At
	}
	p.claimAs(t, ahead)
}

// sweep walks a host's pages and gives some of them new due times, of which some come too late.
func (p *pair) sweep(t *rapid.T) {
	row := rapid.Custom(p.drawFound).Draw(t, "host")
	host := row.Row(p.now)
	var due [2][]models.Due
	var pages [2][]models.Page
	for i, s := range []Store{p.store, p.model} {
		p.ok(s.HostPages(p.ctx, host.Bucket, host.HostID, func(page *models.Page) bool {
			pages[i] = append(pages[i], *page)
			return true
		}))
		slices.SortFunc(pages[i], func(a, b models.Page) int { return cmp.Compare(a.ID, b.ID) })
		for _, page := range pages[i] {
			due[i] = append(due[i], models.Due{Bucket: page.Bucket, HostID: page.HostID, PageID: page.ID,
				Visits: page.Visits, WasDue: page.DueAt})
		}
	}
	p.same("HostPages", pages[0], pages[1])
	p.same("pages to reschedule", due[0], due[1])
	for i := range due[0] {
		d := &due[0][i]
		d.DueAt, d.FRMax = p.drawInstant(t), rapid.Int32Range(0, 9).Draw(t, "fr_max")
		d.Wanted, d.Rule = time.Duration(d.FRMax)*time.Minute, models.RulePolicy
		if rapid.IntRange(0, 5).Draw(t, "visited") == 0 {
			d.Visits--
		}
		if rapid.IntRange(0, 5).Draw(t, "moved") == 0 {
			d.WasDue++
		}
	}
	if len(due[0]) > 1 {
		due[0] = append(due[0], due[0][0])
		due[0][0].DueAt++
	}
	p.each("Reschedule", func(s Store) error { return s.Reschedule(p.ctx, due[0]) })
	type known struct {
		Body    string
		Learned int32
	}
	both(p, "Knowledge", func(s Store) (known, error) {
		body, learned, err := s.Knowledge(p.ctx, host.Bucket, host.HostID)
		return known{string(body), learned}, err
	})
}

func (p *pair) merge(t *rapid.T) {
	name := rapid.SampledFrom([]string{"price", "weights"}).Draw(t, "name")
	more := rapid.SliceOfN(rapid.Byte(), 0, 2).Draw(t, "more")
	add := func(old []byte) []byte {
		if len(more) == 0 {
			return nil
		}
		return append(old, more...)
	}
	p.each("Merge", func(s Store) error { return s.Merge(p.ctx, name, add) })
}

// weigh sets the importance of some pages and reads links and sums.
func (p *pair) weigh(t *rapid.T) {
	var worths []models.Worth
	for _, d := range rapid.SliceOfN(rapid.Custom(p.drawFound), 0, 4).Draw(t, "pages") {
		row := d.Row(p.now)
		worths = append(worths, models.Worth{Bucket: row.Bucket, PageID: row.ID, Importance: rapid.Float32().Draw(t, "importance")})
	}
	p.each("SetImportance", func(s Store) error { return s.SetImportance(p.ctx, worths) })
	var after models.Link
	for range 3 {
		bucket, limit := models.BucketOf(sameBucket(1)[0]), rapid.IntRange(1, 3).Draw(t, "limit")
		links := both(p, "LinksFrom", func(s Store) ([]models.Link, error) { return s.LinksFrom(p.ctx, bucket, after, limit) })
		if len(links) > 0 {
			after = links[len(links)-1]
		}
	}
	both(p, "PagesKnown", func(s Store) (int64, error) { return s.PagesKnown(p.ctx) })
	both(p, "PagesBySite", func(s Store) (map[int32]int64, error) { return s.PagesBySite(p.ctx) })
}
