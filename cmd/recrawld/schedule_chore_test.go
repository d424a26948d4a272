package main

import (
	"testing"
	"time"

	"recrawld/models"
	"recrawld/scheduler"
)

// TestWaitingPagesFollowTheConfiguration: a shorter cycle holds for pages that wait since before, after a reload and where it came while
// no daemon ran, once for all workers.
func TestWaitingPagesFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	site := "sites: [{name: one, url: \"http://[::1]:9/\"}]\n"
	writeConfig(t, path, data, site)
	d := built(t, path)
	visited := d.clock.Now().Add(-time.Hour).Truncate(time.Second)
	id := d.force.Load().rows[0].ID
	page := scheduler.NewPage("http://[::1]:9/page", "[::1]:9", id, 1, 100)
	page.State, page.Rule, page.DueAt = models.StateLive, models.RulePolicy, models.At(visited.Add(600*time.Hour))
	page.Stats = models.ChangeStats{Records: 2, VisitedAt: models.At(visited)}
	if _, err := d.store.AddPages(t.Context(), visited, []models.Discovery{{Page: page, Host: "[::1]:9"}}, 0); err != nil {
		t.Fatal(err)
	}
	follow := func(d *daemon, what string, least, most time.Duration) {
		t.Helper()
		if err := chore(t, d, "schedule")(d.clock.Now()); err != nil {
			t.Fatal(err)
		}
		got, err := d.store.Page(t.Context(), page.Bucket, page.ID)
		if after := got.DueAt.Time().Sub(visited); err != nil || after < least || after > most {
			t.Errorf("%s: due %v after the visit (%v), want %v to %v", what, after, err, least, most)
		}
	}
	as := func(worker string) *daemon {
		d.start.Worker.Name, d.scheduled = worker, nil
		return d
	}
	first := d.start.Worker.Name
	follow(as("other"), "as configured", 600*time.Hour, 600*time.Hour)
	follow(as(first), "as configured", 600*time.Hour, 600*time.Hour)
	writeConfig(t, path, data, "cycle: 2h\n"+site)
	if err := d.reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	follow(d, "after a reload", 170*time.Hour, 200*time.Hour)

	now, err := d.store.Page(t.Context(), page.Bucket, page.ID)
	if err != nil {
		t.Fatal(err)
	}
	later := models.Due{Bucket: page.Bucket, HostID: now.HostID, PageID: page.ID, Visits: now.Visits, WasDue: now.DueAt,
		DueAt: models.At(visited.Add(300 * time.Hour)), FRMax: 100, Rule: models.RulePolicy}
	if err := d.store.Reschedule(t.Context(), []models.Due{later}); err != nil {
		t.Fatal(err)
	}
	follow(as("other"), "where another worker did it", 300*time.Hour, 300*time.Hour)
	as(first)

	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	writeConfig(t, path, data, "cycle: 30m\n"+site)
	d = built(t, path)
	follow(d, "after a start", 42*time.Hour, 50*time.Hour)

	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	writeConfig(t, path, data, "cycle: 20m\n"+site)
	d = built(t, path)
	follow(as("anew"), "after a start under a new name, as a container's is", 28*time.Hour, 34*time.Hour)
}
