package main

import (
	"context"
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/scope"
)

// unnamed finds the requisites that the copy of no page names, in passes over all pages. Memory is that of three sets of the requisites
// (idSet) and some 40 MB at most for those that may name others, whatever the pages are.
//
// What is not named is unnamed first, and given up by a later pass that does not find it named either. Visits go on beside it, and what they
// find named is named from then on, by the transaction that says so: a pass gives up only what was unnamed all the time that it took. Where what a
// page names cannot be told, nothing is unnamed or given up that its site would keep. What a pass takes for named that is not stays until the next.
type unnamed struct {
	store *models.Store
	force *inForce
	namer namer
	began models.Instant
	goOn  func(context.Context) (bool, error) // called behind each slice, to rest; false: somebody else passes over them
	slice int                                 // pages that are read at a time
	rows  int                                 // pages that are looked at at a time, without being read

	reads  map[int32]bool // sites whose pages are read: those that keep requisites, or have some
	others []*scope.Scope // of all other sites
	among  *idSet         // all requisites as it began
	named  *idSet         // by pages, or by requisites that are named
	spared *idSet         // named by what is not unnamed itself: it may have been found meanwhile, and with it what it names
	closed map[int64]int  // how far requisites were followed: 1 to what they spare, 2 to what they name
	more   bool           // something was named, or spared, that may have been passed over
	held   map[int32]heldNames

	found unnamedSum
}

// heldNames is the first page of a site of which what it names cannot be told.
type heldNames struct {
	Page string `json:"page"`
	Why  string `json:"why"`
}

// unnamedSum counts what a pass found.
type unnamedSum struct {
	requisites, read, undecided int
	unnamed, givenUp, again     int
}

// unnamedGrace is how long a requisite was unnamed at least when it is given up: some releases are taken back within days.
const unnamedGrace = 3 * 24 * time.Hour

const (
	unnamedSlice = 200
	unnamedRows  = 2000
)

// mostClosed is of how many requisites it is remembered that they were followed; of more they are followed again in each round.
const mostClosed = 1 << 20

func newUnnamed(store *models.Store, past *past, force *inForce, counts []models.SiteState, now time.Time, goOn func(context.Context) (bool, error)) *unnamed {
	u := &unnamed{store: store, force: force, namer: namer{past: past, agent: force.config.Agent.Name}, began: models.At(now), goOn: goOn, slice: unnamedSlice, rows: unnamedRows,
		reads: make(map[int32]bool), closed: make(map[int64]int), held: make(map[int32]heldNames)}
	requisites := int64(0)
	for site, r := range models.RequisitesBySite(counts) {
		requisites += r.Kept + r.Resting
		u.reads[site] = r.Kept+r.Resting > 0
	}
	for id, s := range force.sites {
		if u.reads[id] = u.reads[id] || s.site.Settings.KeepsRequisites(); !u.reads[id] {
			u.others = append(u.others, s.scope)
		}
	}
	seed := uint64(now.UnixNano())
	u.among, u.named, u.spared = newIDSet(requisites, seed), newIDSet(requisites, seed), newIDSet(requisites, seed)
	return u
}

// run is one pass; false: it was not ended, as somebody else passes over the pages.
func (u *unnamed) run(ctx context.Context, now func() time.Time) (bool, error) {
	going, err := u.pass(ctx, u.rows, each(func(_ context.Context, p *models.Page) error {
		if p.Requisite {
			u.found.requisites++
			u.among.add(p.ID)
		}
		return nil
	}))
	if going && err == nil && u.found.requisites > 0 {
		going, err = u.pass(ctx, u.slice, each(u.root))
	}
	for u.more = u.found.requisites > 0; going && err == nil && u.more; {
		u.more = false
		going, err = u.pass(ctx, u.slice, each(u.follow))
	}
	if going && err == nil && u.found.requisites > 0 {
		going, err = u.pass(ctx, u.rows, func(ctx context.Context, pages []models.Page) error { return u.judge(ctx, pages, now()) })
	}
	return going, err
}

// each is a function of one page for all of a slice.
func each(one func(context.Context, *models.Page) error) func(context.Context, []models.Page) error {
	return func(ctx context.Context, pages []models.Page) error {
		for i := range pages {
			if err := one(ctx, &pages[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// pass calls take with all pages, in slices of one bucket each, and rests behind some.
func (u *unnamed) pass(ctx context.Context, slice int, take func(context.Context, []models.Page) error) (bool, error) {
	taken := 0
	for bucket := range int16(models.Buckets) {
		for after, more := int64(-1), true; more; {
			pages, err := u.store.PagesFrom(ctx, bucket, after, slice)
			if err == nil && len(pages) > 0 {
				after, err = pages[len(pages)-1].ID, take(ctx, pages)
			}
			if err != nil {
				return false, err
			}
			more = len(pages) == slice
			if taken += len(pages); taken < slice && bucket < models.Buckets-1 {
				continue
			}
			taken = 0
			if going, err := u.goOn(ctx); err != nil || !going {
				return false, err
			}
		}
	}
	return true, nil
}

// root takes what a page names that is no requisite. What is gone has no copy that anybody sees, nor has what leads elsewhere.
func (u *unnamed) root(ctx context.Context, p *models.Page) error {
	if p.Requisite || !u.reads[p.SiteID] {
		return nil
	}
	return u.look(ctx, p, func(id int64) {
		if u.among.has(id) {
			u.named.add(id)
		}
	})
}

// follow takes what a requisite names that is named itself, or was not found to be unnamed yet.
func (u *unnamed) follow(ctx context.Context, p *models.Page) error {
	if !p.Requisite {
		return nil
	}
	set, far := u.spared, 1
	switch {
	case u.named.has(p.ID):
		set, far = u.named, 2
	case p.UnnamedAt > 0 && !u.spared.has(p.ID):
		return nil
	}
	if u.closed[p.ID] >= far || mute(p) {
		return nil
	}
	if len(u.closed) < mostClosed {
		u.closed[p.ID] = far
	}
	return u.look(ctx, p, func(id int64) {
		if u.among.has(id) && set.add(id) {
			u.more = true
		}
	})
}

// mute tells whether a page names nothing: it is gone, or neither leads anywhere nor may have a copy that names what it needs.
func mute(p *models.Page) bool {
	return p.State == models.StateGone || p.RedirectTo == "" && !speaks(p)
}

// speaks tells whether what a page names is in a copy of it.
func speaks(p *models.Page) bool {
	elsewhere := p.LeadsAway() && p.State != models.StateMissing
	return p.Version > 0 && !elsewhere && (models.MayName(p.ContentType) || p.Entries > 0)
}

// look takes what a page names as it is: where it leads, and what its copy names.
func (u *unnamed) look(ctx context.Context, p *models.Page, take func(id int64)) error {
	if mute(p) {
		return nil
	}
	if p.RedirectTo != "" {
		take(models.PageID(p.RedirectTo))
	}
	if !speaks(p) {
		return nil
	}
	u.found.read++
	why, err := u.namer.names(ctx, p, take)
	if err != nil {
		return err
	}
	if why != "" {
		u.found.undecided++
		if _, known := u.held[p.SiteID]; !known {
			u.held[p.SiteID] = heldNames{p.URL, string(why)}
		}
	}
	return nil
}

// judge writes what becomes of the requisites of a slice.
func (u *unnamed) judge(ctx context.Context, pages []models.Page, now time.Time) error {
	var again, unnamed, given []int64
	before := min(u.began, models.At(now.Add(-unnamedGrace)))
	for i := range pages {
		switch p := &pages[i]; {
		case !p.Requisite || !u.among.has(p.ID):
		case u.named.has(p.ID):
			if p.UnnamedAt > 0 {
				again = append(again, p.ID)
			}
		case p.GivenUp() || p.UnnamedAt > before || u.stays(p):
		case p.UnnamedAt == 0:
			unnamed = append(unnamed, p.ID)
		case !u.spared.has(p.ID):
			given = append(given, p.ID)
		}
	}
	bucket := pages[0].Bucket
	n, err := u.store.NameAgain(ctx, models.At(now), bucket, again)
	if u.found.again += n; err != nil {
		return err
	}
	n, err = u.store.Unname(ctx, models.At(now), bucket, unnamed)
	if u.found.unnamed += n; err != nil {
		return err
	}
	n, err = u.store.GiveUp(ctx, models.At(now), before, bucket, given)
	u.found.givenUp += n
	return err
}

// stays tells whether a requisite that was not found to be named may be all the same: by a page of which what it names cannot be told, or as a
// page of another site, whose pages are not read.
func (u *unnamed) stays(p *models.Page) bool {
	if _, held := u.held[p.SiteID]; held {
		return true
	}
	at, err := canon.Parse(p.URL)
	if err != nil {
		return false // no page can name it
	}
	for site := range u.held {
		if _, s := u.force.site(site); s == nil || s.Decide(at, 0).Keep || s.DecideRequisite(at).Keep {
			return true
		}
	}
	for _, s := range u.others {
		if s != nil && s.Decide(at, 0).Keep {
			return true
		}
	}
	return false
}
