package simulate

import (
	"context"
	"maps"
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
	verdicts := make([]error, len(results))
	byBucket := make(map[int16][]int)
	for i := range results {
		byBucket[results[i].Lease.Bucket] = append(byBucket[results[i].Lease.Bucket], i)
	}
	for _, bucket := range slices.Sorted(maps.Keys(byBucket)) {
		c := memoryCommit{Memory: m, bucket: bucket, release: make(map[*host]bool)}
		for _, i := range byBucket[bucket] {
			verdicts[i] = c.judge(results[i])
		}
		c.write(now)
	}
	return verdicts, nil
}

// memoryCommit writes the results of one bucket, in the same steps as models.Store.
type memoryCommit struct {
	*Memory
	bucket  int16
	fresh   []*models.Result
	settled []*host
	release map[*host]bool
}

// judge checks one result's fence and history, and writes the visited page and its host.
func (c *memoryCommit) judge(r models.Result) error {
	h := c.hosts[key{c.bucket, r.Lease.HostID}]
	if h == nil || h.LeaseToken != r.Lease.Token {
		return models.ErrLeaseLost
	}
	p := c.pages[key{c.bucket, r.Page.ID}]
	if p == nil && !r.Release {
		return models.ErrLeaseLost
	}
	c.settled = append(c.settled, h)
	c.release[h] = c.release[h] || r.Release
	if p == nil {
		return models.ErrLeaseLost
	}
	if r.Visit.Number > 0 && p.Visits >= r.Visit.Number {
		return nil
	}
	r.Clean()
	r.Page.Bucket, r.Page.HostID, r.Page.Chain = c.bucket, h.ID, slices.Clone(r.Page.Chain)
	p.Page = r.Page
	c.reschedule(p)
	h.OpenAt, h.BackoffUntil, h.Failures, h.Delay = r.Host.OpenAt, r.Host.BackoffUntil, r.Host.Failures, r.Host.Delay
	c.fresh = append(c.fresh, &r)
	return nil
}

func (c *memoryCommit) write(now time.Time) {
	for _, r := range c.fresh {
		c.writeHistory(r)
		c.writeLinks(r)
	}
	for _, r := range c.fresh {
		c.discover(now, r.Discovered, c.options.PagesPerHost)
	}
	for _, r := range c.fresh {
		c.forward(r)
	}
	for _, h := range c.settled {
		if c.release[h] || h.LeaseUntil == 0 {
			h.Free(h.due.earliest())
		} else {
			h.Hold()
		}
		c.requeue(h)
	}
	for _, r := range c.fresh {
		c.writeLog(r)
	}
}

func (c *memoryCommit) writeHistory(r *models.Result) {
	k := key{c.bucket, r.Page.ID}
	if v := r.Visit; v.Number > 0 && !c.options.Forget {
		v.Bucket, v.PageID = k.bucket, k.id
		c.visits[k] = append(c.visits[k], v)
	}
	if r.Version != nil {
		v := *r.Version
		v.Bucket, v.PageID = k.bucket, k.id
		if !slices.ContainsFunc(c.versions[k], func(had models.Version) bool { return had.Number == v.Number }) {
			c.versions[k] = append(c.versions[k], v)
		}
	}
	if r.Robots != nil {
		h, row := c.hosts[key{c.bucket, r.Lease.HostID}], *r.Robots
		row.Bucket, row.HostID, row.Body = h.Bucket, h.ID, slices.Clone(row.Body)
		if h.robots == nil {
			h.robots = make(map[string]models.Robots)
		}
		h.robots[row.Origin] = row
	}
	if r.Content != nil && !r.Content.Digest.IsZero() {
		if _, seen := c.contents[r.Content.Digest]; !seen {
			c.contents[r.Content.Digest] = *r.Content
		}
	}
}

func (c *memoryCommit) writeLinks(r *models.Result) {
	if !r.LinksKnown {
		return
	}
	parent := key{c.bucket, r.Page.ID}
	delete(c.links, parent)
	if len(r.Links) == 0 {
		return
	}
	children := make(map[key]bool, len(r.Links))
	for _, l := range r.Links {
		children[key{l.ChildBucket, l.ChildID}] = true
	}
	c.links[parent] = children
}

// forward makes the children due that were not visited since the parent's full crawl before: those that the result
// names, or else those that are stored.
func (c *memoryCommit) forward(r *models.Result) {
	if r.Forward == 0 {
		return
	}
	children := c.links[key{c.bucket, r.Page.ID}]
	if r.LinksKnown {
		children = make(map[key]bool, len(r.Links))
		for _, l := range r.Links {
			children[key{l.ChildBucket, l.ChildID}] = true
		}
	}
	for child := range children {
		p := c.pages[child]
		if p == nil || p.Stats.VisitedAt >= r.ForwardOf || p.DueAt <= r.Forward {
			continue
		}
		c.makeDue(p, r.Forward, models.RuleParent)
	}
}

// makeDue sets when a page is due.
func (m *Memory) makeDue(p *page, at models.Instant, rule models.Rule) {
	p.DueAt, p.Rule = at, rule
	m.reschedule(p)
	h := m.hosts[key{p.Bucket, p.HostID}]
	h.Hasten(at)
	m.requeue(h)
}

// writeLog appends the events and adds to the daily sums.
func (c *memoryCommit) writeLog(r *models.Result) {
	for _, e := range r.Events {
		e.Bucket, e.Seq = c.bucket, c.nextSeq[c.bucket]
		c.nextSeq[c.bucket]++
		if !c.options.Forget {
			c.events[c.bucket] = append(c.events[c.bucket], e)
		}
	}
	k := dayKey{c.bucket, r.Page.SiteID, models.DayOf(r.Visit.At)}
	if c.daily[k] == nil {
		c.daily[k] = &models.Daily{Bucket: k.bucket, SiteID: k.site, Day: k.day}
	}
	c.daily[k].Count(r)
}
