package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// told is an event as a receiver is told it.
type told struct {
	ID, Source, Type, Subject string
	Data                      map[string]any
}

// hookReceiver takes what it is told. The first request is answered when killed is closed.
type hookReceiver struct {
	*httptest.Server
	begun, killed chan struct{}
	some          chan struct{} // something came

	mu     sync.Mutex
	events []told // guarded by mu
	asked  int    // guarded by mu
}

func receiveHooks(t *testing.T) *hookReceiver {
	t.Helper()
	r := &hookReceiver{begun: make(chan struct{}), killed: make(chan struct{}), some: make(chan struct{}, 1000)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var events []told
		if err == nil {
			err = json.Unmarshal(body, &events)
		}
		if err != nil {
			t.Errorf("a request that is no batch: %v", err)
		}
		r.mu.Lock()
		r.asked++
		first := r.asked == 1
		r.events = append(r.events, events...)
		r.mu.Unlock()
		if first {
			close(r.begun)
			<-r.killed
		}
		w.WriteHeader(http.StatusNoContent)
		r.some <- struct{}{}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *hookReceiver) take() []told {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// pagesBehind counts the pages of which the receiver was told behind so many events.
func (r *hookReceiver) pagesBehind(behind int) int {
	seen := map[string]bool{}
	for _, e := range r.take()[behind:] {
		seen[e.Subject] = true
	}
	return len(seen)
}

// until waits for the receiver to have been told of so many pages behind so many events.
func (r *hookReceiver) until(t *testing.T, behind, pages int) {
	t.Helper()
	for r.pagesBehind(behind) < pages {
		select {
		case <-r.some:
		case <-t.Context().Done():
			t.Fatalf("%d pages were told, want %d", r.pagesBehind(behind), pages)
		}
	}
}

// hookConfig has the daemon tell a receiver, with further settings, and two that cannot be told.
func hookConfig(t *testing.T, url string, further ...string) string {
	t.Helper()
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hook := "{url: \"%[1]s\", secret: \"${file:%[2]s}\", kinds: [%[3]s]%[4]s}\n"
	all := strings.Join(config.EventKinds(), ", ")
	lines := fmt.Sprintf("webhooks:\n  search: "+hook, url, keys, all, strings.Join(append([]string{", private: on"}, further...), ", ")) + fmt.Sprintf("  inside: "+hook, url, keys, all, "") +
		fmt.Sprintf("  nobody: "+hook, url+"/nobody", keys, all, ", private: on, sites: [another]")
	path, _ := configure(t, lines)
	return path
}

// A daemon that is killed while the receiver takes its first batch tells it again at its next start, and all that came since: each event
// of the feed, word for word, those of a page in order.
func TestFault_112_WebhookIsToldEverythingAcrossAKill(t *testing.T) {
	t.Parallel()
	site, r := serve(t, smallSite), receiveHooks(t)
	path := hookConfig(t, r.URL)
	p := launch(t, nil, "run", "-c", path, site.URL)
	<-r.begun
	p.signal(syscall.SIGKILL)
	p.ends()
	close(r.killed)
	lost := len(r.take())

	p = launch(t, nil, "run", "-c", path)
	r.until(t, lost, len(smallSite))
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, p.output())
	}

	var feed struct{ Rows []map[string]any }
	if err := json.Unmarshal([]byte(must(t, "changes", "-c", path, "--json", "--after", "start", "--limit", "0")), &feed); err != nil {
		t.Fatal(err)
	}
	events, times := r.take(), map[string]int{}
	want, got := map[string][]map[string]any{}, map[string][]map[string]any{}
	for _, row := range feed.Rows {
		url := row["url"].(string)
		want[url] = append(want[url], row)
	}
	for i, e := range events {
		if times[e.ID]++; times[e.ID] == 1 {
			got[e.Subject] = append(got[e.Subject], e.Data)
		}
		if e.Type != "recrawld.page."+e.Data["kind"].(string) || !strings.HasPrefix(e.ID, strings.TrimPrefix(e.Source, "urn:recrawld:")+"-") {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != len(smallSite) {
		t.Errorf("told otherwise than the feed tells it (-feed +told):\n%s", diff)
	}
	if again := len(events) - len(times); again < lost {
		t.Errorf("%d events came again, want the %d that the daemon did not know to be taken", again, lost)
	}
}

// A replay tells of every page again, as it is, by the command or by the daemon; and sink list says whom nothing can be told and why.
func TestFault_084_SinkReplayTellsAWebhookOfAllPages(t *testing.T) {
	t.Parallel()
	site, r := serve(t, smallSite), receiveHooks(t)
	close(r.killed)
	path := hookConfig(t, r.URL)
	runUntil(t, func() bool { return r.pagesBehind(0) == len(smallSite) }, "run", "-c", path, site.URL)
	replay := func(who string) {
		t.Helper()
		before := len(r.take())
		must(t, "sink", "replay", "-c", path, "webhook:search")
		pages := map[string]bool{}
		for _, e := range r.take()[before:] {
			if strings.Contains(e.ID, "-all") && e.Data["kind"] == "new" {
				pages[e.Subject] = true
			}
		}
		if len(pages) != len(smallSite) {
			t.Errorf("told anew by %s were %v, want %d pages", who, pages, len(smallSite))
		}
	}
	replay("the command")
	if text := must(t, "sink", "list", "-c", path); !strings.Contains(text, "webhook:inside takes nothing, for ") ||
		!strings.Contains(text, "private: on beside its url") || strings.Contains(text, "webhook:search takes nothing") {
		t.Errorf("sink list says\n%s", text)
	}
	if text := must(t, "status", "-c", path); !strings.Contains(text, "webhook:inside") || !strings.Contains(text, "takes nothing, for ") {
		t.Errorf("status says\n%s", text)
	}
	p := launch(t, nil, "run", "-c", path)
	p.tells("READY=1")
	p.says("names a site that is not there")
	replay("the daemon")
	p.signal(syscall.SIGTERM)
	p.ends()

	var states []sinkState
	if err := json.Unmarshal([]byte(must(t, "sink", "list", "-c", path, "--json")), &states); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{} // whether something is in the way
	for _, s := range states {
		names[s.Name] = s.Trouble != nil
	}
	want := map[string]bool{"mirror": false, "webhook:search": false, "webhook:inside": true, "webhook:nobody": false}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("sinks and whether they are in trouble, -want +got:\n%s", diff)
	}
}

// A try that is under way was due before now; and what is wrong, whoever's words it has, is fit for a terminal.
func TestTroubleIsSaidForAPerson(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var out strings.Builder
	state := sinkState{Name: "webhook:w", Trouble: &sinkTrouble{Since: noon.Add(-time.Hour), Why: "certificate of \x1b[31m", Next: noon.Add(-4 * time.Second)}}
	if err := writeTrouble(&out, state, noon); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "it is tried again now") || strings.Contains(text, "\x1b") {
		t.Errorf("sink list says %q", text)
	}
}

// The configuration knows the kinds of event by the words that the log has for them.
func TestWebhooksKnowTheKindsOfEvents(t *testing.T) {
	t.Parallel()
	var want []string
	for kind := models.EventNew; kind <= models.EventRemoved; kind++ {
		want = append(want, kind.String())
	}
	got := slices.Sorted(slices.Values(config.EventKinds()))
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := eventKinds(config.EventKinds()); err != nil {
		t.Error(err)
	}
}

// A receiver that wants changes of some significance is told of these, of those that nobody can weigh, and of all else that happens.
func TestAReceiverIsNotToldOfSmallChanges(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	store := built(t, path).store
	events := []models.Event{
		{URL: "small", Kind: models.EventChanged, Significance: 0.1, Reasons: 1}, {URL: "great", Kind: models.EventChanged, Significance: 0.5, Reasons: 1},
		{URL: "unweighed", Kind: models.EventChanged}, {URL: "refreshed", Kind: models.EventRefreshed}, {URL: "gone", Kind: models.EventGone}, {URL: "new", Kind: models.EventNew},
	}
	for weight, want := range map[float64]string{0: "small great unweighed refreshed gone new", 0.5: "great unweighed gone new"} {
		h := hookTeller{hook: &config.Webhook{Kinds: config.IndexKinds(), Weight: weight}, parts: sinkParts{store: store, clock: clock.NewVirtual(filledNow)}}
		_, objects, err := h.describe(t.Context(), events)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for i, e := range events {
			if objects[i] != nil {
				told = append(told, e.URL)
			}
		}
		if got := strings.Join(told, " "); got != want {
			t.Errorf("with min_significance %g a receiver is told of %s, want %s", weight, got, want)
		}
	}
}

// Of a site that somebody removes a receiver is told that its pages are, also one that is told of that site alone. What was mirrored
// stays.
func TestAReceiverIsToldOfARemovedSite(t *testing.T) {
	t.Parallel()
	site, r := serve(t, smallSite), receiveHooks(t)
	close(r.killed)
	name := strings.TrimPrefix(site.URL, "http://")
	path := hookConfig(t, r.URL, "sites: [\""+name+"\"]")
	runUntil(t, func() bool { return r.pagesBehind(0) == len(smallSite) }, "run", "-c", path, site.URL)
	before := len(r.take())
	must(t, "remove", "-c", path, "--yes", name)
	runUntil(t, func() bool { return r.pagesBehind(before) == len(smallSite) }, "run", "-c", path)
	for _, e := range r.take()[before:] {
		if e.Type != "recrawld.page.removed" || e.Data["site"] != name {
			t.Errorf("told was %s of %s, site %v; want that it is removed", e.Type, e.Subject, e.Data["site"])
		}
	}
	if out := must(t, "changes", "-c", path, "--kind", "removed", "--json"); strings.Count(out, `"site": "`+name+`"`) != len(smallSite) {
		t.Errorf("changes says\n%s", out)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "data", "mirror", "*", "a.html"))
	if err != nil || len(files) != 1 {
		t.Errorf("mirrored is %v, %v; want it to stay", files, err)
	}
}
