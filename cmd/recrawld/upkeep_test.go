package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/sink"
)

func TestNumbersThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	for _, args := range []string{"add --yes --fr 0 http://127.0.0.1:1/", "add --yes --fr-max 0 http://127.0.0.1:1/",
		"add --yes --level=-5 http://127.0.0.1:1/", "simulate --world uniform --polite NaN", "simulate --world uniform --polite +Inf",
		"simulate --world uniform --polite=-1"} {
		words := strings.Fields(args)
		if code, _, said := command(t, append([]string{words[0], "-c", path}, words[1:]...)...); code != exitUsage {
			t.Errorf("%s: exit code %d, said %q; want %d", args, code, said, exitUsage)
		}
	}
}

func TestRestoreNamesTheFileThatItCannotRead(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	odd := filepath.Join(t.TempDir(), "odd.backup")
	if err := os.WriteFile(odd, []byte("no checkpoint"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, said := command(t, "restore", "--yes", "-c", path, odd); code == exitDone || !strings.Contains(said, odd) {
		t.Errorf("restore of what is no checkpoint: exit code %d, said %q; want the file named", code, said)
	}
}

// A reload that has checkpoints taken more often need not wait for the one that was due in a month.
func TestBackupHeedsAReloadSoon(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "backup: {every: 30d}\n")
	d := built(t, path)
	i := slices.IndexFunc(d.jobs(), func(j scheduler.Job) bool { return j.Name == "backup" })
	job := d.jobs()[i]
	taken := func() int {
		names, err := models.Backups(d.force.Load().config.Backup.Dir)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return len(names)
	}
	look := func(now time.Time) {
		t.Helper()
		at := job.Next(now)
		if wait := at.Sub(now); wait > 2*time.Minute {
			t.Errorf("it is looked at again in %v, want a minute", wait)
		}
		if err := job.Run(t.Context(), at); err != nil {
			t.Error(err)
		}
	}
	now := d.clock.Now()
	look(now)
	later := now.Add(2 * time.Hour)
	if look(later); taken() != 0 {
		t.Errorf("%d checkpoints after two hours of a month", taken())
	}
	writeConfig(t, path, data, "backup: {every: 1h}\n")
	if err := d.reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if look(later); taken() != 1 {
		t.Errorf("%d checkpoints two hours after the start at one an hour, want one", taken())
	}
}

// Of the checkpoints that a daemon takes it keeps as many as it is told to.
func TestCheckpointsThatAreTakenTakeTheirTurn(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "backup: {every: 1h, keep: 2}\n")
	d := built(t, path)
	for hours := range 4 {
		if err := d.backup(t.Context(), d.clock.Now().Add(time.Duration(hours)*time.Hour)); err != nil {
			t.Fatal(err)
		}
		names, err := models.Backups(d.force.Load().config.Backup.Dir)
		if want := min(hours+1, 2); err != nil || len(names) != want {
			t.Errorf("after %d checkpoints there are %v (%v), want the newest %d", hours+1, names, err, want)
		}
	}
}

// A site that is removed while a visit to it is written gets pages back: they go when their turn comes.
func TestPagesOfARemovedSiteGoWhenTheirTurnComes(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	found := []models.Discovery{{Host: "a.example", Page: models.Page{SiteID: 99, URL: "https://a.example/"}},
		{Host: "b.example", Page: models.Page{SiteID: 99, URL: "https://b.example/"}}}
	if _, err := d.store.AddPages(t.Context(), d.clock.Now(), found, 0); err != nil {
		t.Fatal(err)
	}
	if news := d.learnSite(t.Context(), 99); news != siteGone {
		t.Fatalf("a site that is not there is %v, want gone", news)
	}
	for range 2 {
		if err := chore(t, d, "orphans")(d.clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := d.store.PagesKnown(t.Context()); n != 0 || err != nil {
		t.Errorf("%d pages of it are left, %v", n, err)
	}
}

// Events that the sink of another worker has not seen are not pruned by one that has no such sink.
func TestPruningHeedsTheSinksOfOtherWorkers(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "mirror: {dir: \"off\"}\n")
	d := built(t, path)
	ctx, old := t.Context(), d.clock.Now().AddDate(-1, 0, 0)
	if _, err := d.store.AddPages(ctx, old, []models.Discovery{{Host: "a.example", Page: models.Page{SiteID: 1, URL: "https://a.example/"}}}, 0); err != nil {
		t.Fatal(err)
	}
	leases, err := d.store.Claim(ctx, models.ClaimRequest{Buckets: []int16{models.BucketOf("a.example")}, Now: old, Lease: time.Minute, Hosts: 1, Pages: 1})
	if err != nil || len(leases) != 1 {
		t.Fatalf("Claim = %v, %v", leases, err)
	}
	page := leases[0].Pages[0].Page
	page.Visits = 1
	r := models.Result{Lease: models.LeaseRef{Bucket: page.Bucket, HostID: page.HostID, Token: leases[0].Host.LeaseToken}, Release: true, Page: page,
		Host: leases[0].Host, Visit: models.Visit{Number: 1, At: models.At(old), Kind: models.First},
		Events: []models.Event{{At: models.At(old), Kind: models.EventChanged, PageID: page.ID, URL: page.URL}}}
	if _, err := d.store.Commit(ctx, old, []models.Result{r}); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		t.Helper()
		if err := chore(t, d, "events")(d.clock.Now()); err != nil {
			t.Fatal(err)
		}
		events, err := d.store.Events(ctx, page.Bucket, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(events)
	}
	key, held := sink.LeaseKey("mirror"), "99999999999999 other"
	if _, err := d.store.SetMeta(ctx, key, "", held); err != nil {
		t.Fatal(err)
	}
	if n := left(); n != 1 {
		t.Errorf("%d events are left that another worker's mirror has not seen, want 1", n)
	}
	if _, err := d.store.SetMeta(ctx, key, held, "0 nobody"); err != nil {
		t.Fatal(err)
	}
	if n := left(); n != 0 {
		t.Errorf("%d events are left that no sink waits for, want 0", n)
	}
}
