package scheduler

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"recrawld/models"
	"recrawld/recrawl/fingerprint"
)

// Which pages are duplicates is decided here and nowhere else, beside the look-up of bodies and for a whole batch at once.
//
// Pages are filed in an index by the keys of what they say: of their print, or of their digest where they say too little
// for a print. A page is compared when it says something new and at the visit after that; while it is a duplicate or names
// another page as canonical, at each visit; and at some of the others, because a page known longer may have come to say the
// same. If another page says nearly the same, lives, and comes before it, it is a duplicate of that page. It leaves
// the index, so no page is ever a duplicate of a duplicate; its links are not expanded, and it is visited at the pace of
// one that never changes, or a little sooner where it may be the other's new name. When the other page goes, says something else or becomes a
// duplicate itself, it is visited again: it changed too, or finds no twin any more and is a page of its own again. For that it is
// filed under a key of the other page's URL.
//
// Before all come the pages that name no other page as canonical, and of these those known first. So where a page names
// another one as canonical, and that one agrees by naming itself or nothing and by what it says, the first is the duplicate
// whichever was known first. The order is one of all pages: no two are each other's duplicates, not even where two workers
// decide at a time. What workers at a time cannot see of each other, each finds at the next visit.

// leastBody is the least body, in bytes, that is taken for another by its digest alone. That two pages answer "[]" or "not
// found" says nothing of what they will answer.
const leastBody = 256

// comparedEvery is how often a page is compared that says what it always said.
const comparedEvery = 16

// keysOf are the keys under which a page is filed.
func keysOf(p *models.Page) []int64 {
	prints := fingerprint.Print(p.Print).Keys()
	switch {
	case len(prints) > 0:
		keys := make([]int64, len(prints))
		for i, key := range prints {
			keys[i] = int64(key)
		}
		return keys
	case !p.Digest.IsZero() && p.Bytes >= leastBody:
		return []int64{int64(binary.BigEndian.Uint64(p.Digest[:8]))}
	}
	return nil
}

// filed are the keys under which the page now lies in the index.
func filed(p *models.Page) []int64 {
	if p.DuplicateOf != "" {
		return []int64{followers(p.DuplicateOf)}
	}
	return keysOf(p)
}

// compared tells whether a visit is one at which its page is compared with others.
func (f *finished) compared() bool {
	p, before := &f.result.Page, &f.before
	if !f.outcome.Kind.Observed() {
		return false
	}
	news := before.BytesAt
	if before.Stats.Records == 1 {
		news = before.Stats.VisitedAt
	}
	return f.result.Version != nil || p.Print != before.Print || before.DuplicateOf != "" || p.Canonical != "" ||
		news > 0 && news == before.Stats.VisitedAt || p.Visits%comparedEvery == 0
}

// says tells whether two pages say the same, or nearly.
func says(p *models.Page, t *models.Twin) bool {
	if !p.Print.IsZero() || !t.Print.IsZero() {
		return fingerprint.Print(p.Print).Alike(fingerprint.Print(t.Print))
	}
	return p.Digest == t.Digest && !p.Digest.IsZero()
}

// rank is a page's place in the order of all pages: of those that say the same the first is the original.
type rank struct {
	canonical bool // it names another page as canonical
	firstAt   models.Instant
	id        int64
	bucket    int16
}

func rankOf(p *models.Page) rank { return rank{p.Canonical != "", p.Stats.FirstAt, p.ID, p.Bucket} }

func rankOfTwin(t *models.Twin) rank { return rank{t.Canonical != "", t.FirstAt, t.ID, t.Bucket} }

func compareRanks(a, b rank) int {
	return cmp.Or(cmp.Compare(btoi(a.canonical), btoi(b.canonical)), cmp.Compare(a.firstAt, b.firstAt),
		cmp.Compare(a.id, b.id), cmp.Compare(a.bucket, b.bucket))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// twins are the pages with which those of a batch are compared.
type twins struct {
	byKey map[int64][]models.Twin
	batch map[pageKey]models.Twin // the pages of the batch, as they shall be
}

type pageKey struct {
	bucket int16
	id     int64
}

// compare finds the duplicates among the pages of a batch.
func (c *committer) compare(ctx context.Context, batch []*finished) error {
	var compared, followed, looped []*finished
	var keys []int64
	for _, f := range batch {
		said, unsettled := f.compared(), f.unsettles()
		if f.loops() {
			looped, keys = append(looped, f), append(keys, shownBy(&f.result.Page)...)
		}
		if !said && !unsettled {
			continue
		}
		before, now := filed(&f.before), keysOf(&f.result.Page)
		if said && len(before)+len(now) > 0 { // else it says too little now and before
			compared, keys = append(compared, f), append(keys, now...)
		}
		if unsettled && len(before) > 0 {
			followed, keys = append(followed, f), append(keys, followers(f.before.URL))
		}
	}
	if len(compared)+len(followed)+len(looped) == 0 {
		return nil
	}
	found := twins{byKey: make(map[int64][]models.Twin), batch: make(map[pageKey]models.Twin)}
	if err := c.lookUp(ctx, &found, keys); err != nil {
		return err
	}
	for _, f := range batch {
		found.put(&f.result.Page)
	}
	slices.SortStableFunc(compared, func(a, b *finished) int {
		return compareRanks(rankOf(&a.result.Page), rankOf(&b.result.Page))
	})
	for _, f := range compared { // the originals first
		original, ok := found.originalOf(f)
		f.settle(original, ok, &found)
	}
	for _, f := range looped {
		found.comeRound(f)
	}
	return c.follow(ctx, &found, compared, followed)
}

// lookUp adds the pages that are filed under keys.
func (c *committer) lookUp(ctx context.Context, found *twins, keys []int64) error {
	if len(keys) == 0 {
		return nil
	}
	return c.ask(ctx, fmt.Sprintf("look up %d prints", len(keys)), func() error {
		known, err := c.store.Twins(ctx, keys)
		maps.Copy(found.byKey, known)
		return err
	})
}

func (t *twins) put(p *models.Page) { t.batch[pageKey{p.Bucket, p.ID}] = p.Twin() }

// originalOf is the page of which that of a visit is a duplicate: the one that it names as canonical, if that is one, or the
// first one. Filings of pages that are gone are marked to be removed.
func (t *twins) originalOf(f *finished) (original models.Twin, ok bool) {
	p := &f.result.Page
	own := rankOf(p)
	for _, key := range keysOf(p) {
		for _, twin := range t.byKey[key] {
			if now, here := t.batch[pageKey{twin.Bucket, twin.ID}]; here {
				twin = now
			}
			if twin.URL == "" {
				f.result.Unfiled = append(f.result.Unfiled, models.Filing{Key: key, PageBucket: twin.Bucket, PageID: twin.ID})
				continue
			}
			if !f.mayFollow(&twin) || !says(p, &twin) || compareRanks(rankOfTwin(&twin), own) >= 0 {
				continue
			}
			named := twin.URL == p.Canonical
			if !ok || named || original.URL != p.Canonical && compareRanks(rankOfTwin(&twin), rankOfTwin(&original)) < 0 {
				original, ok = twin, true
			}
		}
	}
	return original, ok
}

// mayFollow tells whether a page can be the original of another: it is visited and stands for itself. One that is missing
// keeps the duplicates that it has, but makes no new ones: what moved without a redirect is where it is now.
func (f *finished) mayFollow(t *models.Twin) bool {
	return t.DuplicateOf == "" && !f.planner.paused[t.SiteID] &&
		(t.State == models.StateLive || t.State == models.StateMissing && f.before.DuplicateOf == t.URL)
}

// settle makes the page a duplicate, or one of its own, and files it accordingly.
func (f *finished) settle(original models.Twin, duplicate bool, t *twins) {
	p := &f.result.Page
	p.DuplicateOf = ""
	if duplicate {
		p.DuplicateOf = original.URL
		if f.planner.settings(p.SiteID).Duplicates && p.Level > 0 {
			unlink(&f.result, &f.outcome)
		}
	}
	if duplicate || f.before.DuplicateOf != "" {
		f.planner.repace(&f.result, &f.before, &f.outcome, original.FirstAt)
	}
	before, now := filed(&f.before), filed(p)
	f.result.Unfiled = append(f.result.Unfiled, filings(p, before, now)...)
	t.put(p)
	if !duplicate { // else when it is known who follows its original
		t.file(f, now, before)
	}
}

// file files the page of a visit under keys where it is not yet, under which of them it was before, and where there is room.
func (t *twins) file(f *finished, keys, before []int64) {
	p := &f.result.Page
	for _, filing := range filings(p, keys, nil) {
		there := t.byKey[filing.Key]
		if slices.ContainsFunc(there, func(had models.Twin) bool { return had.ID == p.ID && had.Bucket == p.Bucket }) {
			continue
		}
		if len(there) < models.TwinsPerKey && !slices.Contains(before, filing.Key) {
			f.result.Filed = append(f.result.Filed, filing)
		}
		t.byKey[filing.Key] = append(there, p.Twin())
	}
}

// filings are those of a page under keys, but for some.
func filings(p *models.Page, keys, but []int64) []models.Filing {
	var out []models.Filing
	for _, key := range keys {
		if !slices.Contains(but, key) {
			out = append(out, models.Filing{Key: key, PageBucket: p.Bucket, PageID: p.ID})
		}
	}
	return out
}

// unlink takes the links of a duplicate that it writes without a host out of a result: they would only grow a copy of the
// tree that hangs on the original. A start page keeps them: two sites may begin with the same words and links, and somebody
// asked for both. What it needs to be shown stays, as that alone where it is a link too: its copy is kept like any other.
func unlink(r *models.Result, out *models.Outcome) {
	relative, needed := make(map[int64]bool), make(map[int64]bool)
	for _, l := range out.Links {
		if l.Relative {
			relative[models.PageID(l.URL)] = true
		}
	}
	for _, l := range out.Requisites {
		needed[models.PageID(l.URL)] = true
	}
	for i := range r.Discovered {
		p := &r.Discovered[i].Page
		p.Requisite = p.Requisite || relative[p.ID] && needed[p.ID]
	}
	r.Discovered = slices.DeleteFunc(r.Discovered, func(d models.Discovery) bool { return relative[d.Page.ID] && !d.Page.Requisite })
	r.Links = slices.DeleteFunc(r.Links, func(l models.Link) bool { return relative[l.ChildID] })
	if r.LinksKnown {
		r.Page.Children = int32(len(r.Links))
	}
}
