package models

import (
	"testing"
)

// Hosts that are guarded are found, each with the site of what is missing of it; one of which nothing is missing is not.
func TestGuardedHosts(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{liteFile(t), migrated.DSN(t)} {
		s := openFilledAt(t, dsn, fillPages(30, 3))
		hosts, err := s.GuardedHosts(t.Context(), 10)
		if err != nil || len(hosts) != 0 {
			t.Fatalf("on %s GuardedHosts = %v, %v, want none", s.Dialect(), hosts, err)
		}
		var of Page
		if err := s.inTx(t.Context(), func(x *tx) error {
			pages, err := pageTable.scan(x.rows(t.Context(), "SELECT "+pageTable.coalesced("")+" FROM pages ORDER BY bucket, id LIMIT 1"))
			if err != nil {
				return err
			}
			of = pages[0]
			if _, err := x.exec(t.Context(), `UPDATE pages SET state = $1, due_at = 5 WHERE bucket = $2 AND id = $3`, StateMissing, of.Bucket, of.ID); err != nil {
				return err
			}
			_, err = x.exec(t.Context(), `UPDATE hosts SET guarded_at = 7`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		hosts, err = s.GuardedHosts(t.Context(), 10)
		if err != nil || len(hosts) != 1 || hosts[0].ID != of.HostID || hosts[0].SiteID != of.SiteID || hosts[0].GuardedAt != 7 {
			t.Errorf("on %s GuardedHosts = %+v, %v, want that of %s", s.Dialect(), hosts, err, of.URL)
		}
	}
}
