package models

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

var siteTable = table[Site]{"sites", "id name url settings from_file paused created_at guarded_at approved_at loss_per_day", 1, func(s *Site) []any {
	return []any{&s.ID, &s.Name, &s.URL, &s.Settings, &s.FromFile, &s.Paused, &s.CreatedAt,
		&s.GuardedAt, &s.ApprovedAt, &s.LossPerDay}
}}

var hostTable = table[Host]{"hosts", "bucket id name ready_at open_at backoff_until failures delay lease_token " +
	"lease_until lease_owner pages ahead learned trials removals asked_at guarded_at requisites", 2, func(h *Host) []any {
	return []any{&h.Bucket, &h.ID, &h.Name, &h.ReadyAt, &h.OpenAt, &h.BackoffUntil, &h.Failures, &h.Delay, &h.LeaseToken,
		&h.LeaseUntil, &h.LeaseOwner, &h.Pages, &h.Ahead, &h.Learned,
		&h.Trials, &h.Removals, &h.AskedAt, &h.GuardedAt, &h.Requisites}
}}

var robotsTable = table[Robots]{"robots", "bucket host_id origin status class body crawl_delay fetched_at expires_at " +
	"good_at leads_to hops", 3, func(r *Robots) []any {
	return []any{&r.Bucket, &r.HostID, &r.Origin, &r.Status, &r.Class, &r.Body, &r.CrawlDelay, &r.FetchedAt, &r.ExpiresAt,
		&r.GoodAt, &r.LeadsTo, &r.Hops}
}}

var pageTable = table[Page]{"pages", "bucket id host_id site_id url state level note " +
	"due_at fr_max rule wanted visits " +
	"records changes bits first_at visited_at changed_at tried_at failures class missing_since missing_visits " +
	"fresh_until redirect_to chain " +
	"version etag last_modified digest text_digest content_type bytes duplicate_of no_archive " +
	"children full_at threshold skips evidence_changes evidence_days byte_changes bytes_at link_print print canonical entries importance told_at lost announced_at requisite unnamed_at named_at", 2, func(p *Page) []any {
	return []any{&p.Bucket, &p.ID, &p.HostID, &p.SiteID, &p.URL, &p.State, &p.Level, &p.Note,
		&p.DueAt, &p.FRMax, &p.Rule, &p.Wanted, &p.Visits,
		&p.Stats.Records, &p.Stats.Changes, (*bitsField)(&p.Stats.Bits), &p.Stats.FirstAt, &p.Stats.VisitedAt,
		&p.Stats.ChangedAt, &p.TriedAt, &p.Failures, &p.Class, &p.MissingSince, &p.MissingVisits,
		&p.FreshUntil, &p.RedirectTo, (*chainField)(&p.Chain),
		&p.Version, &p.ETag, &p.LastModified, &p.Digest, &p.TextDigest, &p.ContentType, &p.Bytes, &p.DuplicateOf, &p.NoArchive,
		&p.Children, &p.FullAt, &p.Threshold, &p.Skips, &p.Evidence.Changes, &p.Evidence.Days,
		&p.ByteChanges, &p.BytesAt, &p.LinkPrint, &p.Print, &p.Canonical, &p.Entries, &p.Importance, &p.ToldAt, &p.Lost, &p.AnnouncedAt, &p.Requisite, &p.UnnamedAt, &p.NamedAt}
}}

// visitedTable is pages without what a visit does not write: what is set when they are found, and while they are leased.
var visitedTable = pageTable.without("named_at").without("unnamed_at").without("requisite").without("announced_at").without("lost").without("told_at").without("importance")

var knowledgeTable = table[Knowledge]{"knowledge", "bucket host_id body", 2, func(k *Knowledge) []any {
	return []any{&k.Bucket, &k.HostID, &k.Body}
}}

var memoryTable = table[Memory]{"memories", "bucket host_id page_id body", 3, func(m *Memory) []any {
	return []any{&m.Bucket, &m.HostID, &m.PageID, &m.Body}
}}

var noteTable = table[Note]{"notes", "name body", 1, func(n *Note) []any { return []any{&n.Name, &n.Body} }}

// dueTable and worthTable are columns of pages that are written on their own. Of a new due time, the key tells the page
// as it was when the time was decided; was_due is the due_at of then (reschedulePages).
var dueTable = table[Due]{"pages", "bucket id host_id visits was_due due_at fr_max wanted rule", 5, func(d *Due) []any {
	return []any{&d.Bucket, &d.PageID, &d.HostID, &d.Visits, &d.WasDue, &d.DueAt, &d.FRMax, &d.Wanted, &d.Rule}
}}

var worthTable = table[Worth]{"pages", "bucket id importance", 2, func(w *Worth) []any {
	return []any{&w.Bucket, &w.PageID, &w.Importance}
}}

var visitTable = table[Visit]{"visits", "bucket page_id number at kind class status took bytes fr_max version rule", 3,
	func(v *Visit) []any {
		return []any{&v.Bucket, &v.PageID, &v.Number, &v.At, &v.Kind, &v.Class, &v.Status, &v.Took, &v.Bytes, &v.FRMax,
			&v.Version, &v.Rule}
	}}

var versionTable = table[Version]{"versions", "bucket page_id number at status digest text_digest bytes content_type " +
	"etag last_modified significant record_file record_offset record_length significance reasons", 3, func(v *Version) []any {
	return []any{&v.Bucket, &v.PageID, &v.Number, &v.At, &v.Status, &v.Digest, &v.TextDigest, &v.Bytes, &v.ContentType,
		&v.ETag, &v.LastModified, &v.Significant, &v.Record.File, &v.Record.Offset, &v.Record.Length,
		&v.Significance, &v.Reasons}
}}

// contentRow is a Content with its bucket.
type contentRow struct {
	Content
	bucket int16
}

var contentTable = table[contentRow]{"contents", "bucket digest record_file record_offset record_length url at", 2,
	func(c *contentRow) []any {
		return []any{&c.bucket, &c.Digest, &c.Record.File, &c.Record.Offset, &c.Record.Length, &c.URL, &c.At}
	}}

var filingTable = table[filingRow]{"prints", "bucket key page_bucket page_id", 4, func(f *filingRow) []any {
	return []any{&f.bucket, &f.Key, &f.PageBucket, &f.PageID}
}}

// twinTable is columns of pages that are read on their own.
var twinTable = table[Twin]{"pages", "bucket id site_id url state first_at visited_at digest print canonical duplicate_of", 2,
	func(t *Twin) []any {
		return []any{&t.Bucket, &t.ID, &t.SiteID, &t.URL, &t.State, &t.FirstAt, &t.VisitedAt, &t.Digest, &t.Print, &t.Canonical, &t.DuplicateOf}
	}}

var eventTable = table[Event]{"events", "bucket seq at kind site_id page_id url version previous not_before not_after " +
	"status content_type last_modified digest bytes redirect_to record_file record_offset record_length significance reasons note requisite mark", 2,
	func(e *Event) []any {
		return []any{&e.Bucket, &e.Seq, &e.At, &e.Kind, &e.SiteID, &e.PageID, &e.URL, &e.Version, &e.Previous, &e.NotBefore,
			&e.NotAfter, &e.Status, &e.ContentType, &e.LastModified, &e.Digest, &e.Bytes, &e.RedirectTo, &e.Record.File,
			&e.Record.Offset, &e.Record.Length, &e.Significance, &e.Reasons, &e.Note, &e.Requisite, &e.Mark}
	}}

var dailyTable = table[Daily]{"daily", "bucket site_id day asked not_modified same changed first moved gone failed robots " +
	"skipped bytes bytes_saved found lost found_days lost_days", 3, func(d *Daily) []any {
	return []any{&d.Bucket, &d.SiteID, &d.Day, &d.Asked, &d.NotModified, &d.Same, &d.Changed, &d.First, &d.Moved, &d.Gone,
		&d.Failed, &d.Robots, &d.Skipped, &d.Bytes, &d.BytesSaved, &d.Found, &d.Lost,
		&d.FoundDays, &d.LostDays}
}}

// bitsField keeps 64 bits in a signed column.
type bitsField uint64

// Value implements driver.Valuer.
func (b *bitsField) Value() (driver.Value, error) { return int64(*b), nil }

// Scan implements sql.Scanner.
func (b *bitsField) Scan(src any) error {
	n, ok := src.(int64)
	if !ok && src != nil {
		return fmt.Errorf("bits from %T", src)
	}
	*b = bitsField(n)
	return nil
}

// chainField keeps a list of numbers in a text column, separated by commas.
type chainField []int64

// Value implements driver.Valuer.
func (c *chainField) Value() (driver.Value, error) {
	words := make([]string, len(*c))
	for i, id := range *c {
		words[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(words, ","), nil
}

// Scan implements sql.Scanner.
func (c *chainField) Scan(src any) error {
	text, ok := src.(string)
	if !ok && src != nil {
		return fmt.Errorf("chain from %T", src)
	}
	*c = nil
	if text == "" {
		return nil
	}
	for word := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return fmt.Errorf("chain %q: %w", text, err)
		}
		*c = append(*c, id)
	}
	return nil
}
