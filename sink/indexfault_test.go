package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"recrawld/config"
	"recrawld/models"
)

// answering is a server that answers each request as a function has it.
func answering(t *testing.T, answer func(r *http.Request, body string) (status int, said string)) *searchServer {
	t.Helper()
	s := &searchServer{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		status, said := answer(r, string(body))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, said)
	}))}
	t.Cleanup(s.Close)
	return s
}

// What is the fault of no document waits with everything: it is neither taken for done nor for refused.
func TestAnIndexThatDoesNotTakeWhatItSeemsTo(t *testing.T) {
	t.Parallel()
	task := func(said string) func(*http.Request, string) (int, string) {
		return func(r *http.Request, _ string) (int, string) {
			if r.Method == http.MethodPost {
				return http.StatusAccepted, `{"taskUid": 7}`
			}
			return http.StatusOK, said
		}
	}
	for _, test := range []struct {
		name, form string
		page       string // what it says; "": it is gone
		answer     func(r *http.Request, body string) (int, string)
		want       string
	}{
		{"a key that may not make an index", config.IndexMeilisearch, "A",
			task(`{"status": "failed", "error": {"type": "invalid_request", "code": "index_not_found"}}`), "does not let one be made"},
		{"an index with another key", config.IndexMeilisearch, "A",
			task(`{"status": "failed", "error": {"type": "invalid_request", "code": "index_primary_key_already_exists", "message": "It has one."}}`), "It has one"},
		{"a task that nobody knows", config.IndexMeilisearch, "A", func(r *http.Request, _ string) (int, string) {
			if r.Method == http.MethodPost {
				return http.StatusAccepted, `{"taskUid": 7}`
			}
			return http.StatusNotFound, `{"code": "task_not_found"}`
		}, "no task 7"},
		{"a request that is none", config.IndexMeilisearch, "A",
			func(*http.Request, string) (int, string) {
				return http.StatusBadRequest, `{"code": "invalid_index_uid"}`
			}, "invalid_index_uid"},
		{"a proxy that knows no server", config.IndexMeilisearch, "",
			func(*http.Request, string) (int, string) { return http.StatusNotFound, "<h1>404</h1>" }, "404"},
		{"a proxy that knows no server", config.IndexTypesense, "",
			func(*http.Request, string) (int, string) { return http.StatusNotFound, "<h1>404</h1>" }, "404"},
		{"a disk that is full", config.IndexElasticsearch, "A", func(*http.Request, string) (int, string) {
			return http.StatusOK, `{"items": [{"index": {"status": 429, "error": {"type": "cluster_block_exception"}}}]}`
		}, "cluster_block"},
	} {
		t.Run(test.form+" "+test.name, func(t *testing.T) {
			t.Parallel()
			x, _ := indexOf(t, answering(t, test.answer), test.form, "", "t", shelves{"a": test.page})
			err := x.Deliver(t.Context(), of("a"))
			if _, later := errors.AsType[*Later](err); !later || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Deliver = %v, want that it is tried again later, since %q", err, test.want)
			}
		})
	}
}

// A proxy before the server that takes no long requests is sent shorter ones, and what is too long by itself waits.
func TestAnIndexBehindAProxyOfShortRequests(t *testing.T) {
	t.Parallel()
	for _, form := range formed {
		t.Run(form.form+" "+form.token, func(t *testing.T) {
			t.Parallel()
			behind := newSearchServer(t, form.shown)
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ContentLength > 2000 || len(r.RequestURI) > 4096 {
					w.WriteHeader(map[bool]int{true: http.StatusRequestEntityTooLarge, false: http.StatusRequestURITooLong}[r.ContentLength > 2000])
					return
				}
				behind.ServeHTTP(w, r)
			}))
			t.Cleanup(proxy.Close)
			pages, urls := shelves{}, []string{"long"}
			for i := range 8 {
				urls = append(urls, fmt.Sprint(i))
				pages[fmt.Sprint(i)] = "A" + strings.Repeat("a", 600)
			}
			pages["long"] = strings.Repeat("a", 3000)
			x, _ := indexOf(t, &searchServer{Server: proxy}, form.form, form.path, form.token, pages)
			refused, ok := errors.AsType[*Refused](x.Deliver(t.Context(), of(urls...)))
			if !ok || len(refused.Pages) != 1 || refused.Pages[0].URL != "long" || len(behind.documents) != 8 {
				t.Fatalf("refused = %v, %v, the server has %d documents", refused, ok, len(behind.documents))
			}
			if form.form != config.IndexTypesense { // where what is dropped is in the address
				return
			}
			for i := range IndexBatch - 8 {
				urls = append(urls, fmt.Sprint("gone", i))
			}
			clear(pages)
			if err := x.Deliver(t.Context(), of(urls...)); err != nil || len(behind.documents) != 0 {
				t.Errorf("%d pages are gone: %v, the server has %d documents", len(urls), err, len(behind.documents))
			}
		})
	}
}

// Older Typesenses repeat each document that they refuse: it is refused all the same.
func TestAnIndexThatRepeatsWhatItRefuses(t *testing.T) {
	t.Parallel()
	s := answering(t, func(_ *http.Request, body string) (int, string) {
		var said strings.Builder
		for line := range strings.Lines(body) {
			fmt.Fprintf(&said, `{"code": 400, "document": %q, "error": "it is bad", "success": false}`+"\n", line)
		}
		return http.StatusOK, said.String()
	})
	pages, urls := shelves{}, []string{}
	for i := range 16 {
		urls = append(urls, fmt.Sprint(i))
		pages[urls[i]] = strings.Repeat(`"`, 200<<10)
	}
	x, _ := indexOf(t, s, config.IndexTypesense, "", "t", pages)
	refused, ok := errors.AsType[*Refused](x.Deliver(t.Context(), of(urls...)))
	if !ok || len(refused.Pages) != len(urls) {
		t.Errorf("Deliver refuses %v", refused)
	}
}

// Where others have taken the lease while pages were described, what was found of them is not sent any more: theirs may be newer.
func TestAnIndexWhoseLeaseIsLostSendsNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := answering(t, func(*http.Request, string) (int, string) {
		asked.Add(1)
		return http.StatusOK, `{"items": [{"index": {"status": 200}}]}`
	})
	log := newMemory()
	log.add(1, of("a")...)
	x, c := indexOf(t, s, config.IndexElasticsearch, "", "t", shelves{"a": "A"})
	describe := x.options.Describe
	x.options.Describe = func(ctx context.Context, events []models.Event, anew bool) ([]Document, error) {
		mine, _ := log.Meta(ctx, LeaseKey(x.Name()))
		_, _ = log.SetMeta(ctx, LeaseKey(x.Name()), mine, LeaseFreed)
		return describe(ctx, events, anew)
	}
	_, err := drainTo(log, x, c, new(logged)).Once(t.Context())
	if !errors.Is(err, ErrBusy) || asked.Load() > 0 || x.Failing() {
		t.Errorf("Once = %v after %d requests, failing %v", err, asked.Load(), x.Failing())
	}
}

// An index that is to have pages of other sites is made anew; the order in which they are written is of no account.
func TestTheSitesOfAnIndexAreOfItsPlace(t *testing.T) {
	t.Parallel()
	place := func(sites ...string) string { return NewIndex(IndexOptions{Index: "docs", Sites: sites}).Place() }
	if place("a", "b") != place("b", "a") || place("a") == place("a", "b") || place() == place("a") {
		t.Errorf("places: %s, %s, %s and %s", place("a", "b"), place("b", "a"), place("a"), place())
	}
}

// What happens to a page behind a change, and is nothing to a search server, does not keep the change from it: neither in one batch, as where the
// server was away for a while, nor where it is made anew.
func TestAnIndexHasAPageThatFails(t *testing.T) {
	t.Parallel()
	s, log := newSearchServer(t, ""), newMemory()
	failing := func(url string) []models.Event {
		return []models.Event{{URL: url, Kind: models.EventChanged}, {URL: url, Kind: models.EventFailing}}
	}
	log.add(1, failing("a")...)
	log.current = failing("b")
	x, c := indexOf(t, s, config.IndexElasticsearch, "", "", shelves{"a": "A", "b": "B"})
	d := drainTo(log, x, c, new(logged))
	if _, err := d.Once(t.Context()); err != nil || s.titles() != "A" {
		t.Errorf("Once = %v, the server has %q, want A", err, s.titles())
	}
	if err := d.Replay(t.Context(), log); err != nil || s.titles() != "A B" {
		t.Errorf("Replay = %v, the server has %q, want A and B", err, s.titles())
	}
}

// An index that is made anew hears of the pages that were removed before it heard of that: nothing else tells of them any more.
func TestAnIndexMadeAnewHearsOfRemovedPages(t *testing.T) {
	t.Parallel()
	s, log, pages := newSearchServer(t, ""), newMemory(), shelves{"a": "A", "b": "B"}
	x, c := indexOf(t, s, config.IndexElasticsearch, "", "", pages)
	log.add(1, of("a", "b")...)
	d := drainTo(log, x, c, new(logged))
	if _, err := d.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	pages["a"] = ""
	log.add(1, models.Event{URL: "a", Kind: models.EventRemoved})
	log.current = of("b")
	if err := d.Replay(t.Context(), log); err != nil || s.titles() != "B" {
		t.Errorf("Replay = %v, the server has %q, want B", err, s.titles())
	}
}
