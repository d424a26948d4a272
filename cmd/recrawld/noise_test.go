package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/models"
	"recrawld/recrawl/content"
)

// noiseRows are the regions that noise lists of the filled data.
func noiseRows(t *testing.T, dir string) []map[string]any {
	t.Helper()
	answer, complaint, code := desk(t, dir, "noise", "docs", "--json")
	var listed struct{ Rows []map[string]any }
	if err := json.Unmarshal([]byte(answer), &listed); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %s, %v: %s", code, complaint, err, answer)
	}
	return listed.Rows
}

// What a person says of a region is kept, shown, and taken back.
func TestNoiseOrders(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	rows := noiseRows(t, dir)
	if len(rows) != 1 || rows[0]["kind"] != "template" || rows[0]["order"] != "" {
		t.Fatalf("regions = %v, want one template", rows)
	}
	id := rows[0]["id"].(string)
	for _, step := range []struct{ flag, id, said, order string }{
		{"--pin", id[:6], "it stays noise", "pinned"},
		{"--clear", id[:4], "counts as content until it is learned anew", "cleared"},
		{"--free", "all", "what is learned decides", ""},
		{"--clear", "all", "counts as content", "cleared"},
		{"--free", strings.ToUpper(id), "free again", ""},
	} {
		answer, complaint, code := desk(t, dir, "noise", "docs", step.flag, step.id)
		if code != exitDone || !strings.Contains(answer, step.said) || !strings.Contains(answer, id[:8]) {
			t.Errorf("%s %s: exit code %d, %q, %q, want %q", step.flag, step.id, code, answer, complaint, step.said)
		}
		if got := noiseRows(t, dir)[0]["order"]; got != step.order {
			t.Errorf("after %s %s the region is %q, want %q", step.flag, step.id, got, step.order)
		}
	}
	if answer, _, _ := desk(t, dir, "noise", "docs.example.org", "--pin", id); !strings.Contains(answer, "pinned") {
		t.Errorf("a host by its name: %q", answer)
	}
}

func TestNoiseRefuses(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"noise nobody":           {exitNotFound, "there is docs, blog"},
		"noise docs --pin zzzz":  {exitNotFound, "no region zzzz"},
		"noise docs --pin all":   {exitNotFound, "no region all"},
		"noise blog --clear all": {exitNotFound, "no region to speak of"},
	} {
		answer, complaint, code := desk(t, dir, strings.Fields(line)...)
		if code != want.code || !strings.Contains(answer+complaint, want.says) {
			t.Errorf("%s: exit code %d, %q, %q, want %d and %q", line, code, answer, complaint, want.code, want.says)
		}
	}
	if _, _, code := desk(t, dir, "noise", "docs", "--pin", "a", "--clear", "b"); code != exitUsage {
		t.Errorf("two orders at once: exit code %d, want %d", code, exitUsage)
	}
}

// A selector that none of the pages has is no mistake, but a person is told.
func TestConfigCheckNamesSelectorsWithoutMatch(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	answer, complaint, code := desk(t, dir, "config", "check", filepath.Join(dir, "recrawld.yaml"))
	if code != exitDone || !strings.Contains(answer, `note: site docs: ignore: ".advert" matches nothing in the`) {
		t.Errorf("exit code %d, %q, %q, want a note on .advert", code, answer, complaint)
	}
	if strings.Contains(answer, "footer") {
		t.Errorf("a selector that matches is complained of: %q", answer)
	}
}

// TestNoDecisionIsForgottenForAnother: where a host has as many decisions as are kept, one more is refused, and one that is there can be changed.
func TestNoDecisionIsForgottenForAnother(t *testing.T) {
	t.Parallel()
	store, err := models.Open(t.Context(), filepath.Join(filledData(t), databaseFile), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	host, err := store.Host(t.Context(), models.BucketOf("docs.example.org"), models.HostID("docs.example.org"))
	if err != nil {
		t.Fatal(err)
	}
	n, now := &hostNoise{host: host, orders: &content.Orders{}}, filledNow
	for key := range uint64(content.MaxOrders) {
		n.orders.Set(content.Order{Key: key, Noise: true, At: now})
	}
	l := &look{now: now}
	err = noiseCmd{Site: "a", Clear: []string{"f"}}.setOrders(t.Context(), l, store, n, []content.Region{{Key: 1 << 40}})
	if err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), "recrawld noise a --free ID") {
		t.Errorf("one more: %v, want that there is no room, and the way out", err)
	}
	if err := (noiseCmd{Clear: []string{"0"}}).setOrders(t.Context(), l, store, n, []content.Region{{Key: 0}}); err != nil {
		t.Errorf("changing one: %v", err)
	}
	body, err := store.Memory(t.Context(), n.host.Bucket, n.host.ID, models.OrdersID)
	kept := content.DecodeOrders(body).List()
	if err != nil || len(kept) != content.MaxOrders || kept[0].Key != 1 || kept[len(kept)-1].Noise {
		t.Errorf("%d are kept, %v; want all but the one that is cleared as they were", len(kept), err)
	}
}
