package models

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
)

// HostSummaries returns the hosts in back-off or with failures first, then those with most pages, at most n. It passes
// over the table of hosts, which has one row a server name; memory is that of n rows.
func (s *Store) HostSummaries(ctx context.Context, now Instant, n int) ([]HostSummary, error) {
	query := "SELECT " + hostTable.prefixed("h.") + `,
		COALESCE(r.status, 0), COALESCE(r.class, 0), COALESCE(r.crawl_delay, 0)
		FROM hosts h LEFT JOIN robots r ON r.bucket = h.bucket AND r.host_id = h.id AND r.fetched_at =
			(SELECT MAX(fetched_at) FROM robots x WHERE x.bucket = h.bucket AND x.host_id = h.id)
		WHERE h.bucket = $1 ORDER BY h.backoff_until > $2 DESC, h.failures > 0 DESC, h.pages DESC LIMIT $3`
	var out []HostSummary
	for bucket := range int16(Buckets) {
		var h HostSummary
		into := append(hostTable.fields(&h.Host), &h.RobotsStatus, &h.RobotsClass, &h.RobotsDelay)
		for _, err := range s.scan(ctx, into, query, bucket, now, n) {
			if err != nil {
				return nil, fmt.Errorf("read hosts: %w", err)
			}
			if last := len(out) - 1; last >= 0 && out[last].ID == h.ID {
				continue // two origins of one host asked for their robots.txt in the same millisecond
			}
			out = append(out, h)
		}
		slices.SortStableFunc(out, func(a, b HostSummary) int {
			return cmp.Or(cmp.Compare(hostRank(b, now), hostRank(a, now)), cmp.Compare(b.Pages, a.Pages))
		})
		out = out[:min(len(out), n)]
	}
	return out, nil
}

// hostRank orders hosts as the statement does.
func hostRank(h HostSummary, now Instant) int {
	switch {
	case h.BackoffUntil > now:
		return 2
	case h.Failures > 0:
		return 1
	}
	return 0
}

// TrialedHosts yields the hosts of whose validators and promises something is known, of one site or of all (0), by bucket
// and ID. It passes over the table of hosts once; an error ends the sequence.
func (s *Store) TrialedHosts(ctx context.Context, site int32) iter.Seq2[Host, error] {
	all := s.hostsWhere(ctx, `h.trials IS NOT NULL
		AND ($1 = 0 OR EXISTS (SELECT 1 FROM pages p WHERE p.bucket = h.bucket AND p.host_id = h.id AND p.site_id = $1))`, site)
	return func(yield func(Host, error) bool) {
		for h, err := range all {
			if (err != nil || h.Trials.Hinted()) && !yield(h, err) {
				return
			}
		}
	}
}

// SiteHosts yields the hosts that have pages of a site, by bucket and ID. It passes over the table of hosts once; an error
// ends the sequence.
func (s *Store) SiteHosts(ctx context.Context, site int32) iter.Seq2[Host, error] {
	return s.hostsWhere(ctx, "EXISTS (SELECT 1 FROM pages p WHERE p.bucket = h.bucket AND p.host_id = h.id AND p.site_id = $1)", site)
}

func (s *Store) hostsWhere(ctx context.Context, condition string, site int32) iter.Seq2[Host, error] {
	query := "SELECT " + hostTable.prefixed("h.") + " FROM hosts h WHERE " + condition + " ORDER BY h.bucket, h.id"
	return func(yield func(Host, error) bool) {
		var h Host
		for _, err := range s.scan(ctx, hostTable.fields(&h), query, site) {
			if err != nil {
				yield(Host{}, fmt.Errorf("read hosts: %w", err))
				return
			}
			if !yield(h, nil) {
				return
			}
		}
	}
}

// GuardedHost is a host whose pages do not count as gone, and the site of those of them that are missing.
type GuardedHost struct {
	Host
	SiteID int32
}

// GuardedHosts lists hosts that are guarded (Host.GuardedAt), at most so many, each with the site of a page of it that is missing and no requisite; those
// without any are left out.
func (s *Store) GuardedHosts(ctx context.Context, limit int) ([]GuardedHost, error) {
	// Index: hosts_guarded.
	hosts, err := hostTable.scan(s.rows(ctx, "SELECT "+hostTable.list()+" FROM hosts WHERE guarded_at > 0 ORDER BY bucket, id LIMIT $1", limit))
	guarded := make([]GuardedHost, 0, len(hosts))
	for i := 0; i < len(hosts) && err == nil; i++ {
		h := GuardedHost{Host: hosts[i]}
		// Index: pages_due, one page where the host has lost most of them.
		for _, err = range s.scan(ctx, []any{&h.SiteID}, `SELECT site_id FROM pages WHERE bucket = $1 AND host_id = $2 AND due_at > 0 AND state = $3
			AND NOT COALESCE(requisite,false) LIMIT 1`, h.Bucket, h.ID, StateMissing) {
			guarded = append(guarded, h)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read guarded hosts: %w", err)
	}
	return guarded, nil
}

// HostRobots returns what is known of the robots.txt of a host's origins.
func (s *Store) HostRobots(ctx context.Context, bucket int16, host int64) ([]Robots, error) {
	robots, err := robotsTable.scan(s.rows(ctx, "SELECT "+robotsTable.list()+` FROM robots
		WHERE bucket = $1 AND host_id = $2 ORDER BY origin`, bucket, host))
	if err != nil {
		return nil, fmt.Errorf("read robots: %w", err)
	}
	return robots, nil
}
