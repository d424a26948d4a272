package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/sink"
)

func TestPagesThatASinkCannotTakeAreShown(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "")
	must(t, "import", "-c", config, imported(t, "http://127.0.0.1:9/a\n"))
	if got := must(t, "status", "-c", config); strings.Contains(got, "mirror") {
		t.Errorf("status tells of a mirror that takes everything:\n%s", got)
	}
	var pages []sink.Withheld
	for range withheldShown + 2 {
		pages = append(pages, sink.Withheld{URL: "http://127.0.0.1:9/a", Why: "127.0.0.1_9/a: permission denied",
			Since: models.At(clock.System{}.Now().Add(-3 * time.Hour)), Events: make([]models.Event, 2)})
	}
	row, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	store, err := models.Open(t.Context(), filepath.Join(data, databaseFile), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.SetMeta(t.Context(), sink.WithheldKey("mirror"), "", string(row)); err != nil {
		t.Fatal(err)
	}
	if got, want := must(t, "status", "-c", config), "cannot take 12 pages"; !strings.Contains(got, want) {
		t.Errorf("status says\n%swant %q", got, want)
	}
	got := must(t, "sink", "list", "-c", config)
	for _, want := range []string{"12 pages", "http://127.0.0.1:9/a, for 3 h: 127.0.0.1_9/a: permission denied", "and 2 pages more (--json has all)", "10 min",
		"sink replay mirror"} {
		if !strings.Contains(got, want) {
			t.Errorf("sink list says\n%swant %q in it", got, want)
		}
	}
	var states []sinkState
	if err := json.Unmarshal([]byte(must(t, "sink", "list", "--json", "-c", config)), &states); err != nil {
		t.Fatal(err)
	}
	if w := states[0].Withheld; len(w) != 12 || w[0].Events != 2 || w[0].URL != "http://127.0.0.1:9/a" {
		t.Errorf("sink list --json has %+v, want 12 pages with 2 events each", w)
	}
}

// TestPagesThatASinkGoesWithoutAreShown: with how it gets them.
func TestPagesThatASinkGoesWithoutAreShown(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "")
	must(t, "import", "-c", config, imported(t, "http://127.0.0.1:9/a\n"))
	store, err := models.Open(t.Context(), filepath.Join(data, databaseFile), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	row, err := json.Marshal(sink.Passed{Pages: 4321, At: models.At(clock.System{}.Now().Add(-3 * time.Hour)), Why: "it is elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.SetMeta(t.Context(), sink.PassedKey("mirror"), "", string(row)); err != nil {
		t.Fatal(err)
	}
	if got, want := must(t, "status", "-c", config), "has passed over up to 4,321 pages"; !strings.Contains(got, want) {
		t.Errorf("status says\n%swant %q", got, want)
	}
	if got, want := must(t, "sink", "list", "-c", config), "to 4,321 pages, the last of them 3 h ago: it is elsewhere\n"; !strings.Contains(got, want) || !strings.Contains(got, "sink replay mirror") {
		t.Errorf("sink list says\n%swant %q in it", got, want)
	}
	var states []sinkState
	if err := json.Unmarshal([]byte(must(t, "sink", "list", "--json", "-c", config)), &states); err != nil || states[0].Passed == nil || states[0].Passed.Pages != 4321 {
		t.Errorf("sink list --json has %+v, %v", states, err)
	}
}

// TestEventsThatWaitComeBackWhole writes an event with all that it can have, and reads it again.
func TestEventsThatWaitComeBackWhole(t *testing.T) {
	t.Parallel()
	want := models.Event{Bucket: 7, Seq: 1 << 60, At: 1_772_366_400_123, Kind: models.EventChanged, SiteID: 3, PageID: -1 << 62,
		URL: "http://127.0.0.1/<a>&?q=\"", Version: 2, Previous: 1, NotBefore: 5, NotAfter: 6, Status: 200, ContentType: "text/html",
		LastModified: "Sun", Digest: models.DigestOf([]byte("x")), Bytes: 9, RedirectTo: "b", Significance: 0.7, Reasons: models.ReasonText,
		Note: "ü\u2028", Record: models.Record{File: "f.warc.gz", Offset: 1 << 40, Length: 77}}
	row, err := json.Marshal([]sink.Withheld{{URL: want.URL, Events: []models.Event{want}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sink.WithheldIn(string(row)); err != nil || got[0].Events[0] != want {
		t.Errorf("WithheldIn = %+v, %v, want %+v", got, err, want)
	}
}
