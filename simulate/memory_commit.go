package simulate

import (
	"context"
	"slices"
	"time"

	"recrawld/models"
)

// Commit implements scheduler.Store.
func (m *Memory) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	verdicts := again(m, &m.verdicts, len(results))[:len(results)]
	clear(verdicts)
	c := &m.commit
	c.Memory = m
	for n := nextBucket(results, -1); n < models.Buckets; n = nextBucket(results, n) {
		for i := range results {
			if results[i].Lease.Bucket == n {
				verdicts[i] = c.judge(&m.buckets[n], &results[i])
			}
		}
	}
	c.write(now)
	clear(c.fresh) // the results are the caller's
	c.fresh, c.settled = c.fresh[:0], c.settled[:0]
	return verdicts, nil
}

// nextBucket is the first bucket behind one that has a result, or Buckets. A worker of a simulation commits results of
// one host, so nothing is sorted.
func nextBucket(results []models.Result, after int16) int16 {
	next := int16(models.Buckets)
	for i := range results {
		if b := results[i].Lease.Bucket; b > after && b < next {
			next = b
		}
	}
	return next
}

// memoryCommit writes results in the same steps as models.Store.
type memoryCommit struct {
	*Memory
	fresh   []*models.Result
	settled []settled
}

// settled is a host whose lease is held by a result, fresh or not.
type settled struct {
	host    *host
	release bool
}

// judge checks one result's fence and history, and writes the visited page and its host.
func (c *memoryCommit) judge(b *bucket, r *models.Result) error {
	p, h := c.visited(b, r)
	if h == nil || h.LeaseToken != r.Lease.Token {
		return models.ErrLeaseLost
	}
	if p == nil || r.FoundAnew(p.Visits, p.SiteID) { // removed while it was visited: its request counts all the same
		h.OpenAt, h.BackoffUntil = max(h.OpenAt, r.Host.OpenAt), max(h.BackoffUntil, r.Host.BackoffUntil)
		if r.Release {
			c.settle(h, true)
		}
		return models.ErrLeaseLost
	}
	c.settle(h, r.Release)
	if r.Visit.Number > 0 && p.Visits >= r.Visit.Number || r.Visit.Number == 0 && p.Visits > r.Page.Visits {
		return nil
	}
	due, rule := p.DueAt, p.Rule
	p.write(&r.Page, b.index, h.ID)
	if at, asked := r.Outrun(h.AskedAt, due, rule, p.AnnouncedAt); asked {
		p.DueAt, p.Rule = at, rule
	} else if r.Wished(due, rule) {
		p.DueAt, p.Rule = due, rule
	}
	c.reschedule(p)
	h.OpenAt, h.BackoffUntil, h.Failures, h.Delay = r.Host.OpenAt, r.Host.BackoffUntil, r.Host.Failures, r.Host.Delay
	h.Ahead, h.Trials, h.GuardedAt = r.Host.Ahead, r.Host.Trials, r.Host.GuardedAt
	if len(r.Knowledge) > 0 {
		h.knowledge = r.Knowledge
		h.Learned++
	}
	h.remember(r.Page.ID, r.Memory)
	h.remember(models.HostMemoryID, r.HostMemory)
	c.fresh = append(c.fresh, r)
	return nil
}

// visited is the page of a result and the host of its lease, each nil where there is none. Results come in the order in which the
// pages were leased, nearly always: so these are looked up only where it is another page.
func (c *memoryCommit) visited(b *bucket, r *models.Result) (*page, *host) {
	if c.awaited < len(c.handed) {
		if p := c.handed[c.awaited]; p.ID == r.Page.ID && p.Bucket == b.index && p.HostID == r.Lease.HostID {
			c.awaited++
			return p, p.host
		}
	}
	return b.pages[r.Page.ID], b.hosts[r.Lease.HostID]
}

// write replaces the row but for what visits do not write: whether it is a requisite and named, its importance and what it was told.
func (p *page) write(row *models.Page, bucket int16, host int64) {
	requisite, unnamed, named, importance, told, announced, lost := p.Requisite, p.UnnamedAt, p.NamedAt, p.Importance, p.ToldAt, p.AnnouncedAt, p.Lost
	clean := p.says(row)
	p.Page = *row
	if !clean {
		p.Page.Clean()
	}
	p.Bucket, p.HostID, p.Requisite, p.UnnamedAt, p.NamedAt = bucket, host, requisite, unnamed, named
	p.Importance, p.ToldAt, p.AnnouncedAt, p.Lost = importance, told, announced, lost
	if len(row.Chain) > 0 {
		p.Chain = slices.Clone(row.Chain)
	}
}

// says tells whether a row has the texts and the numbers of the page as it is, which are clean.
func (p *page) says(row *models.Page) bool {
	return row.Evidence == p.Evidence && row.URL == p.URL && row.Note == p.Note && row.RedirectTo == p.RedirectTo && row.ETag == p.ETag &&
		row.LastModified == p.LastModified && row.ContentType == p.ContentType && row.Canonical == p.Canonical && row.DuplicateOf == p.DuplicateOf
}

// settle notes a host that is to be put where it belongs. Results of one host come together, but for few.
func (c *memoryCommit) settle(h *host, release bool) {
	for i := len(c.settled) - 1; i >= 0; i-- {
		if c.settled[i].host == h {
			c.settled[i].release = c.settled[i].release || release
			return
		}
	}
	c.settled = append(c.settled, settled{h, release})
}

func (c *memoryCommit) write(now time.Time) {
	for _, r := range c.fresh {
		c.file(r)
		c.writeHistory(r)
		c.writeRobots(r)
		c.writeLinks(r)
	}
	c.discover(now, true)
	c.discover(now, false)
	for _, r := range c.fresh {
		c.forward(r)
	}
	for _, r := range c.fresh {
		c.tell(r)
	}
	for _, s := range c.settled {
		if h := s.host; s.release || h.LeaseUntil == 0 {
			h.Free(h.due.earliest())
		} else {
			h.Hold()
		}
		c.requeue(s.host)
	}
	for _, r := range c.fresh {
		c.writeLog(r)
	}
}

// discover adds the discovered pages: those of the results' own buckets, or the others.
func (c *memoryCommit) discover(now time.Time, near bool) {
	var sum models.Added
	named := make(map[*host][]models.Page)
	gathering := c.gathered.Begin()
	for _, r := range c.fresh {
		for i := range r.Discovered {
			if d := &r.Discovered[i]; (models.BucketOf(models.Clean(d.Host)) == r.Lease.Bucket) == near {
				before := sum.Added
				c.add(now, d, c.options.PagesPerHost, gathering, &sum)
				d.New = sum.Added > before
				if d.Anew && !d.New {
					c.nameAnew(d, named)
				}
			}
		}
	}
	gathering.End(true)
	for h, pages := range named {
		c.lookAgain(h, pages, models.At(now))
	}
}

// nameAnew notes a discovered page that is known, was there once, and is named by what did not name it before, by its host.
func (c *memoryCommit) nameAnew(d *models.Discovery, named map[*host][]models.Page) {
	row := d.Row(time.Time{})
	if p := c.page(key{row.Bucket, row.ID}); p != nil && p.Version > 0 {
		named[p.host] = append(named[p.host], p.Page)
	}
}

// lookAgain takes note that pages of a host were named by what did not name them before.
func (c *memoryCommit) lookAgain(h *host, pages []models.Page, now models.Instant) {
	for _, look := range h.LooksAgain(pages, now) {
		p := c.page(key{h.Bucket, look.PageID})
		if p.NamedAt = now; look.DueAt != 0 {
			c.makeDue(p, look.DueAt, models.RuleNamed)
		}
	}
}

func (c *memoryCommit) writeHistory(r *models.Result) {
	if c.options.Forget {
		return
	}
	k := key{r.Lease.Bucket, r.Page.ID}
	if v := r.Visit; v.Number > 0 {
		v.Bucket, v.PageID = k.bucket, k.id
		c.visits[k] = append(c.visits[k], v)
	}
	if r.Version != nil {
		v := *r.Version
		v.Clean()
		v.Bucket, v.PageID = k.bucket, k.id
		if !slices.ContainsFunc(c.versions[k], func(had models.Version) bool { return had.Number == v.Number }) {
			c.versions[k] = append(c.versions[k], v)
		}
		if r.Regained {
			c.regain(k, v)
		}
	}
	if r.Content != nil && !r.Content.Digest.IsZero() {
		if _, seen := c.contents[r.Content.Digest]; !seen {
			row := *r.Content
			row.Clean()
			c.contents[row.Digest] = row
		}
	}
}

// regain notes that a page's newest version is not lost, and where the body of a version lies for all that had lost it.
func (c *memoryCommit) regain(k key, v models.Version) {
	c.page(k).Lost = false
	for i := range c.versions[k] {
		if had := &c.versions[k][i]; had.Digest == v.Digest && had.Record.Lost() && v.Record.Length > 0 {
			had.Record = v.Record
		}
	}
}

func (c *memoryCommit) writeRobots(r *models.Result) {
	if r.Robots == nil {
		return
	}
	h, row := c.buckets[r.Lease.Bucket].hosts[r.Lease.HostID], *r.Robots
	row.Clean()
	row.Bucket, row.HostID, row.Body = h.Bucket, h.ID, slices.Clone(row.Body)
	if h.robots == nil {
		h.robots = make(map[string]models.Robots)
	}
	h.robots[row.Origin] = row
}

func (c *memoryCommit) writeLinks(r *models.Result) {
	if !r.LinksKnown {
		return
	}
	parent := key{r.Lease.Bucket, r.Page.ID}
	if had := c.links[parent]; len(had) > 0 || r.LinkedBefore() {
		has := childrenOf(r)
		for i := range r.Discovered {
			d := &r.Discovered[i]
			row := d.Row(time.Time{})
			k := key{row.Bucket, row.ID}
			d.Anew = d.Anew || has[k] && !had[k]
		}
	}
	if len(r.Links) == 0 {
		delete(c.links, parent)
		return
	}
	c.links[parent] = childrenOf(r)
}

// childrenOf is the pages that a result's links name.
func childrenOf(r *models.Result) map[key]bool {
	children := make(map[key]bool, len(r.Links))
	for _, l := range r.Links {
		children[key{l.ChildBucket, l.ChildID}] = true
	}
	return children
}

// forward brings duplicates forward that were not visited since the page, and the children that were not visited since their parent's full
// crawl before: those that the result names, or else those that are stored.
func (c *memoryCommit) forward(r *models.Result) {
	for _, d := range r.Duplicates {
		if p := c.page(key{d.Bucket, d.PageID}); p != nil && waitsFor(&p.Page, d) && p.DueAt > d.DueAt &&
			max(p.Stats.VisitedAt, p.TriedAt) < r.Visit.At {
			c.makeDue(p, d.DueAt, models.RuleOriginal)
		}
	}
	if r.Forward == 0 {
		return
	}
	children := c.links[key{r.Lease.Bucket, r.Page.ID}]
	if r.LinksKnown {
		children = childrenOf(r)
	}
	for child := range children {
		p := c.page(child)
		if p == nil || max(p.Stats.VisitedAt, p.TriedAt) >= r.ForwardOf || p.DueAt <= r.Forward ||
			p.Rule.OfDuplicate() || p.Rule == models.RuleBudget {
			continue
		}
		c.makeDue(p, r.Forward, models.RuleParent)
	}
}

// waitsFor tells whether a page is one that an entry of Result.Duplicates is of.
func waitsFor(p *models.Page, d models.Duplicate) bool {
	if d.Led {
		return p.State == models.StateMoved && p.Rule != models.RuleOriginal && p.Rule != models.RuleBudget
	}
	return p.Rule == models.RuleDuplicate
}

// tell marks pages that a list tells of, and brings some of them forward.
func (c *memoryCommit) tell(r *models.Result) {
	var rows []models.Page
	for _, told := range r.Told {
		if p := c.page(key{r.Lease.Bucket, told.PageID}); p != nil {
			rows = append(rows, p.Page)
		}
	}
	forward, marked := r.Tells(rows)
	for _, id := range marked {
		c.page(key{r.Lease.Bucket, id}).ToldAt = r.Telling.At
	}
	for _, id := range forward {
		p := c.page(key{r.Lease.Bucket, id})
		c.makeDue(p, r.Telling.At, models.RuleSitemap)
	}
	if len(rows) > 0 {
		h := c.buckets[r.Lease.Bucket].hosts[r.Lease.HostID]
		c.lookAgain(h, r.Names(rows, !h.Trials.By[models.HintSitemap].Doubted()), r.Telling.At)
	}
}

// makeDue sets when a page is due.
func (m *Memory) makeDue(p *page, at models.Instant, rule models.Rule) {
	p.DueAt, p.Rule = at, rule
	m.reschedule(p)
	p.host.Hasten(at)
	m.requeue(p.host)
}

// writeLog appends the events and adds to the daily sums.
func (c *memoryCommit) writeLog(r *models.Result) {
	b := &c.buckets[r.Lease.Bucket]
	if !c.options.Forget {
		for _, e := range r.Events {
			e.Clean()
			e.Bucket, e.Seq, e.Mark = b.index, b.next, c.mark()
			b.next++
			b.events = append(b.events, e)
		}
	}
	if !r.Counts() {
		return
	}
	k := siteDay{r.Page.SiteID, models.DayOf(r.Visit.At)}
	if b.today == nil || b.today.SiteID != k.site || b.today.Day != k.day {
		if b.daily[k] == nil {
			b.daily[k] = &models.Daily{Bucket: b.index, SiteID: k.site, Day: k.day}
		}
		b.today = b.daily[k]
	}
	b.today.Count(r)
}
