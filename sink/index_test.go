package sink

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// searchServer answers as the servers of each form do, and keeps the documents. One whose title is "bad" it refuses.
type searchServer struct {
	*httptest.Server
	token string // that it wants to see; as the form shows it

	mu        sync.Mutex
	made      bool                       // there is an index
	documents map[string]json.RawMessage // by ID
	requests  []string                   // method and path
	tasks     []string                   // of Meilisearch: how each ended, "" for not yet
	busy      int                        // requests that are still to be answered 503
	slow      bool                       // tasks do not end
	polled    chan struct{}              // told when one is asked for that does not
}

func newSearchServer(t *testing.T, token string) *searchServer {
	t.Helper()
	s := &searchServer{token: token, documents: map[string]json.RawMessage{}, polled: make(chan struct{}, 1)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *searchServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	shown := r.Header.Get("X-TYPESENSE-API-KEY") + r.Header.Get("Authorization")
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case s.busy > 0:
		s.busy--
		w.WriteHeader(http.StatusServiceUnavailable)
	case shown != s.token:
		http.Error(w, "who are you? "+shown, http.StatusForbidden)
	case r.URL.Path == "/_bulk":
		s.bulk(w, body)
	case strings.HasPrefix(r.URL.Path, "/indexes/docs/documents"), strings.HasPrefix(r.URL.Path, "/tasks/"):
		s.meilisearch(w, r, body)
	case strings.HasPrefix(r.URL.Path, "/collections"):
		s.typesense(w, r, body)
	case r.URL.Path == "/solr/docs/update":
		s.solr(w, body)
	default:
		http.NotFound(w, r)
	}
}

// put takes a document, if it is good.
func (s *searchServer) put(document []byte) bool {
	var d struct{ ID, Title string }
	if json.Unmarshal(document, &d) != nil || d.Title == "bad" {
		return false
	}
	s.documents[d.ID] = bytes.Clone(document)
	return true
}

func (s *searchServer) bulk(w io.Writer, body []byte) {
	type done struct {
		ID     string `json:"_id"`
		Status int    `json:"status"`
		Error  any    `json:"error,omitempty"`
	}
	var items []map[string]done
	lines := bufio.NewScanner(bytes.NewReader(body))
	for lines.Scan() {
		var action map[string]struct {
			ID string `json:"_id"`
		}
		_ = json.Unmarshal(lines.Bytes(), &action)
		if drop, ok := action["delete"]; ok {
			status := http.StatusOK
			if _, has := s.documents[drop.ID]; !has {
				status = http.StatusNotFound
			}
			delete(s.documents, drop.ID)
			items = append(items, map[string]done{"delete": {ID: drop.ID, Status: status}})
			continue
		}
		lines.Scan()
		d := done{ID: action["index"].ID, Status: http.StatusCreated}
		if !s.put(lines.Bytes()) {
			d.Status, d.Error = http.StatusBadRequest, map[string]string{"type": "document_parsing_exception", "reason": "it is bad"}
		}
		items = append(items, map[string]done{"index": d})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": true, "items": items})
}

func (s *searchServer) meilisearch(w http.ResponseWriter, r *http.Request, body []byte) {
	var uid int
	if n, _ := fmt.Sscanf(r.URL.Path, "/tasks/%d", &uid); n == 1 {
		said := map[string]any{"uid": uid, "status": "processing"}
		if s.slow {
			select {
			case s.polled <- struct{}{}:
			default:
			}
		}
		if how := s.tasks[uid]; how != "" && !s.slow {
			said["status"] = how
			said["error"] = map[string]string{"message": "a document is bad", "code": "invalid_document_fields", "type": "invalid_request"}
		}
		_ = json.NewEncoder(w).Encode(said)
		return
	}
	how := "succeeded"
	if strings.HasSuffix(r.URL.Path, "/delete-batch") {
		var ids []string
		_ = json.Unmarshal(body, &ids)
		for _, id := range ids {
			delete(s.documents, id)
		}
	} else {
		var documents []json.RawMessage
		_ = json.Unmarshal(body, &documents)
		before := len(s.documents)
		if slices.ContainsFunc(documents, func(d json.RawMessage) bool { return strings.Contains(string(d), `"bad"`) }) {
			how = "failed" // and none of them is taken
		} else if r.URL.Query().Get("primaryKey") != "id" && before == 0 {
			how = "failed"
		} else {
			for _, d := range documents {
				s.put(d)
			}
		}
	}
	s.tasks = append(s.tasks, how)
	w.WriteHeader(http.StatusAccepted)
	_ = json.NewEncoder(w).Encode(map[string]any{"taskUid": len(s.tasks) - 1, "status": "enqueued"})
}

func (s *searchServer) typesense(w http.ResponseWriter, r *http.Request, body []byte) {
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/collections":
		s.made = true
		w.WriteHeader(http.StatusCreated)
	case !s.made:
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
	case r.Method == http.MethodDelete:
		ids := strings.TrimSuffix(strings.TrimPrefix(r.URL.Query().Get("filter_by"), "id:["), "]")
		for id := range strings.SplitSeq(ids, ",") {
			delete(s.documents, id)
		}
		fmt.Fprint(w, `{"num_deleted": 1}`)
	default:
		for line := range bytes.Lines(body) {
			if s.put(line) {
				fmt.Fprintln(w, `{"success": true}`)
			} else {
				fmt.Fprintln(w, `{"code": 400, "error": "it is bad", "success": false}`)
			}
		}
	}
}

func (s *searchServer) solr(w http.ResponseWriter, body []byte) {
	var documents []json.RawMessage
	var drop struct{ Delete []string }
	if json.Unmarshal(body, &documents) != nil && json.Unmarshal(body, &drop) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, id := range drop.Delete {
		delete(s.documents, id)
	}
	for _, d := range documents {
		if !s.put(d) { // those before it are taken
			http.Error(w, `{"error": {"msg": "it is bad"}}`, http.StatusBadRequest)
			return
		}
	}
}

// titles are the titles of its documents.
func (s *searchServer) titles() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var titles []string
	for _, d := range s.documents {
		var has struct{ Title string }
		_ = json.Unmarshal(d, &has)
		titles = append(titles, has.Title)
	}
	slices.Sort(titles)
	return strings.Join(titles, " ")
}

// shelves are what pages say, by URL, as what describes them finds it; "": nothing.
type shelves map[string]string

func (s shelves) describe(_ context.Context, events []models.Event, _ bool) ([]Document, error) {
	documents := make([]Document, len(events))
	for i, e := range events {
		documents[i].ID = hashOf(e.URL)[:32]
		switch title := s[e.URL]; title {
		case "":
		case "lost":
			documents[i].Why = errors.New("its copy is lost")
		default:
			documents[i].Fields = fmt.Appendf(nil, `{"id": %q, "title": %q}`, documents[i].ID, title)
		}
	}
	return documents, nil
}

// formed are the forms, with the path behind the server and what a token is shown as.
var formed = []struct{ form, path, token, shown string }{
	{config.IndexMeilisearch, "", "s3cret", "Bearer s3cret"},
	{config.IndexElasticsearch, "", "s3cret", "ApiKey s3cret"},
	{config.IndexElasticsearch, "", "u:p", "Basic dTpw"},
	{config.IndexTypesense, "", "s3cret", "s3cret"},
	{config.IndexSolr, "/solr", "u:p", "Basic dTpw"},
}

// indexOf is an Index for a server, and the clock that it goes by.
func indexOf(t *testing.T, s *searchServer, form, path, token string, pages shelves) (*Index, *clock.Virtual) {
	t.Helper()
	c := clock.NewVirtual(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	x := NewIndex(IndexOptions{Name: "index:docs", Form: IndexFormOf(form), URL: s.URL + path, Index: "docs", Token: func() (string, error) { return token, nil },
		Dial: new(net.Dialer).DialContext, Describe: pages.describe, RetryAfter: retryAfter, Clock: c})
	t.Cleanup(func() { _ = x.Close() })
	return x, c
}

// of are events of pages.
func of(urls ...string) []models.Event {
	events := make([]models.Event, len(urls))
	for i, u := range urls {
		events[i] = models.Event{URL: u, Kind: models.EventChanged}
	}
	return events
}

// Each server has what the pages say by now: a page once, however many events; none of one that is gone, known or not; and one that it refuses
// holds up no other.
func TestAnIndexHasWhatPagesSay(t *testing.T) {
	t.Parallel()
	for _, form := range formed {
		t.Run(form.form+" "+form.token, func(t *testing.T) {
			t.Parallel()
			s, pages := newSearchServer(t, form.shown), shelves{"a": "A", "b": "B", "c": "C", "d": "bad", "e": "lost"}
			x, _ := indexOf(t, s, form.form, form.path, form.token, pages)
			err := x.Deliver(t.Context(), of("a", "d", "a", "b", "c", "e", "never"))
			refused, ok := errors.AsType[*Refused](err)
			if !ok || len(refused.Pages) != 2 || refused.Pages[0].URL != "d" || refused.Pages[1].URL != "e" || s.titles() != "A B C" {
				t.Fatalf("Deliver = %v, the server has %q (%q)", err, s.titles(), s.requests)
			}
			if why := refused.Pages[0].Why.Error(); !strings.Contains(why, "bad") {
				t.Errorf("the page is refused since %q, want the server's words", why)
			}
			pages["a"], pages["b"] = "", "B2"
			if err := x.Tell(t.Context(), time.Time{}, of("a", "b")); err != nil || s.titles() != "B2 C" {
				t.Errorf("Tell = %v, the server has %q", err, s.titles())
			}
		})
	}
}

// A server that does not take what it is given is tried again when it says so, and its words are shown without the token.
func TestAnIndexIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, form := range formed {
		t.Run(form.form+" "+form.token, func(t *testing.T) {
			t.Parallel()
			s, pages := newSearchServer(t, form.shown), shelves{"a": "A"}
			s.busy = 1
			x, c := indexOf(t, s, form.form, form.path, form.token, pages)
			_, later := errors.AsType[*Later](x.Deliver(t.Context(), of("a")))
			asked := len(s.requests)
			if _, again := errors.AsType[*Later](x.Deliver(t.Context(), of("a"))); !later || !again || len(s.requests) != asked {
				t.Fatalf("failed: later %v, again %v, %d requests and then %d", later, again, asked, len(s.requests))
			}
			_ = c.SleepUntil(t.Context(), c.Now().Add(time.Minute))
			if err := x.Deliver(t.Context(), of("a")); err != nil || s.titles() != "A" || x.Failing() {
				t.Errorf("Deliver after a minute = %v, the server has %q", err, s.titles())
			}
			s.token = "another one"
			err := x.Deliver(t.Context(), of("a"))
			_, shown, _ := strings.Cut(form.shown, " ")
			if err == nil || strings.Contains(err.Error(), form.token) || shown != "" && strings.Contains(err.Error(), shown) || !strings.Contains(err.Error(), "token does not let write") {
				t.Errorf("Deliver with a wrong token = %v", err)
			}
		})
	}
}

// What Meilisearch has not ended in time is not given to it once more before it has.
func TestAnIndexPutsNothingBehindATaskThatIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newSearchServer(t, "Bearer t")
	x, _ := indexOf(t, s, config.IndexMeilisearch, "", "t", shelves{"a": "A"})
	s.slow = true
	ctx, cancel := context.WithCancel(t.Context())
	call := &indexCall{index: x, token: "t"}
	asked := make(chan error)
	go func() {
		asked <- meilisearch(ctx, call, []Document{{ID: "1", Fields: []byte(`{"id": "1", "title": "A"}`)}})
	}()
	<-s.polled
	cancel()
	if err := <-asked; err == nil || len(call.pending) != 1 {
		t.Fatalf("= %v with %d tasks pending", err, len(call.pending))
	}
	x.pending = call.pending
	s.mu.Lock() // of the last look at the task it may still be writing
	s.slow, s.requests = false, nil
	s.mu.Unlock()
	if err := x.Deliver(t.Context(), of("a")); err != nil || len(x.pending) != 0 || s.requests[0] != "GET /tasks/0" {
		t.Errorf("Deliver = %v, %d pending, requests %q", err, len(x.pending), s.requests)
	}
}
