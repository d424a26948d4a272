package main

import (
	"testing"
	"time"

	"recrawld/models"
)

// The host of a removed site is known for a day more, in which it is spared should the site come back; then nothing is left.
func TestHostsOfRemovedSitesGoADayLater(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	now := d.clock.Now()
	site, err := d.store.AddSite(t.Context(), now, models.Site{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	page := models.Page{SiteID: site.ID, URL: "https://a.example/"}
	if _, err := d.store.AddPages(t.Context(), now, []models.Discovery{{Host: "a.example", Page: page}}, 0); err != nil {
		t.Fatal(err)
	}
	leases, err := d.store.Claim(t.Context(), models.ClaimRequest{Now: now, Lease: time.Minute, Owner: "w", Hosts: 1, Pages: 1,
		Buckets: []int16{models.BucketOf("a.example")}})
	if err != nil || len(leases) != 1 {
		t.Fatalf("Claim = %v, %v, want the page", leases, err)
	}
	l := leases[0]
	r := models.Result{Lease: models.LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken}, Release: true, Page: l.Pages[0].Page,
		Host: l.Host, Before: &l.Pages[0].Page}
	r.Host.OpenAt, r.Page.DueAt = models.At(now.Add(time.Minute)), models.At(now.Add(time.Hour))
	if _, err := d.store.Commit(t.Context(), now, []models.Result{r}); err != nil {
		t.Fatal(err)
	}
	if err := d.store.RemoveSite(t.Context(), site.ID, now); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		hosts int
	}{{time.Second, 1}, {24 * time.Hour, 1}, {24*time.Hour + 2*time.Minute, 0}} {
		if err := chore(t, d, "removed")(now.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		dump, err := d.store.Dump(t.Context())
		if err != nil || len(dump.Hosts) != step.hosts {
			t.Errorf("%v after the removal there are %d hosts, %v, want %d", step.after, len(dump.Hosts), err, step.hosts)
		}
	}
}
