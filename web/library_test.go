package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/report"
)

// shelf is a library of functions.
type shelf struct {
	changes func(ctx context.Context, q ChangesQuery) (report.Document, error)
	page    func(ctx context.Context, q PageQuery) (any, error)
	feed    func(ctx context.Context, q ChangesQuery) (Feed, error)
}

func (s shelf) Changes(ctx context.Context, q ChangesQuery) (report.Document, error) {
	return s.changes(ctx, q)
}
func (s shelf) Visit(_ context.Context, urls []string) (report.Document, error) {
	d := listed(0, "")
	for _, url := range urls {
		d.Rows = append(d.Rows, report.Row{report.TextCell(url)})
	}
	return d, nil
}
func (s shelf) Announce(_ context.Context, a Announcement) (Announced, error) {
	if a.Key != publisher {
		return Announced{}, Refusal{http.StatusForbidden, errors.New("no site has this key")}
	}
	return Announced{Next: len(a.URLs), LeftOut: len(a.Host)}, nil
}
func (s shelf) Feed(ctx context.Context, q ChangesQuery) (Feed, error) { return s.feed(ctx, q) }
func (s shelf) Page(ctx context.Context, q PageQuery) (any, error)     { return s.page(ctx, q) }

// listed is a document with so many rows and a cursor.
func listed(rows int, cursor string) report.Document {
	d := report.Document{Name: "changes", Columns: []report.Column{{Key: "url"}}, Cursor: cursor}
	for range rows {
		d.Rows = append(d.Rows, report.Row{report.TextCell("https://docs.example.org/")})
	}
	return d
}

func TestFault_110_WrongParametersAreNamed(t *testing.T) {
	t.Parallel()
	base := startWith(t, shelf{
		func(context.Context, ChangesQuery) (report.Document, error) {
			t.Error("asked")
			return report.Document{}, nil
		},
		func(context.Context, PageQuery) (any, error) { t.Error("asked"); return nil, nil }, nil,
	})
	for question, want := range map[string]string{
		"changes":                                      "after is missing: there is now, start, all",
		"changes?after=":                               "after is missing",
		"changes?after=now&after=start":                "after is given more than once",
		"changes?after=now&limit=0":                    "limit is a number from 1 to 10000",
		"changes?after=now&limit=10001":                "limit is a number",
		"changes?after=now&limit=1e3":                  "limit is a number",
		"changes?after=now&limit=99999999999999999999": "limit is a number",
		"changes?after=now&wait=30":                    "wait is a time from 0s to 1m",
		"changes?after=now&wait=61s":                   "wait is a time",
		"changes?after=now&wait=-1s":                   "wait is a time",
		"changes?after=now&min_significance=NaN":       "min_significance is a number from 0 to 1",
		"changes?after=now&min_significance=1.01":      "min_significance is a number",
		"changes?after=now&min-significance=0.5":       `there is no parameter "min-significance"; there is after, limit, wait, site, kind, min_significance`,
		"changes?after=now&%zz":                        "the parameters are no such",
		"changes?after=now;limit=3":                    "the parameters are no such",
		"changes?url=x":                                "after is missing",
		"pages":                                        "url is missing",
		"pages?url=x&version=0":                        "version is a number, from 1 on",
		"pages?url=x&version=2147483648":               "version is a number",
		"pages?url=x&version=first":                    "version is a number",
		"pages?url=x&url=y":                            "url is given more than once",
		"pages?url=x&limit=3":                          "there is no parameter",
		"pages?url=x&" + strings.Repeat("y", 9000):     "there is no parameter",
	} {
		if status, body := request(t, "GET", base+"/v1/"+question, ""); status != http.StatusBadRequest || !strings.Contains(body, want) || len(body) > 300 {
			t.Errorf("%.60s = %d %q, want %d and %q", question, status, body, http.StatusBadRequest, want)
		}
	}
}

func FuzzQuestions(f *testing.F) {
	f.Add("after=now&limit=3&kind=new,gone&kind=moved&wait=1m&min_significance=.5")
	f.Add("url=https%3A%2F%2Fdocs.example.org%2F&version=-1")
	f.Fuzz(func(t *testing.T, raw string) {
		q, wait, err := readChanges(raw)
		if err == nil && (q.After == "" || q.Limit < 1 || q.Limit > mostRows || !(q.Weight >= 0 && q.Weight <= 1) || wait < 0 || wait > mostWait) {
			t.Errorf("%q is taken for %+v, %v", raw, q, wait)
		}
		if q, err := readFeed(raw); err == nil && (q.After != "" || len(q.Kinds) == 0 || q.Limit < 1 || q.Limit > mostEntries || !(q.Weight >= 0 && q.Weight <= 1)) {
			t.Errorf("%q is taken for a feed of %+v", raw, q)
		}
		if p, err := readPage(raw); err == nil && p.URL == "" {
			t.Errorf("%q is taken for %+v", raw, p)
		}
	})
}

func TestQuestionsReachTheLibrary(t *testing.T) {
	t.Parallel()
	var changes ChangesQuery
	var page PageQuery
	base := startWith(t, shelf{
		func(_ context.Context, q ChangesQuery) (report.Document, error) {
			changes = q
			return listed(2, "there"), nil
		},
		func(_ context.Context, q PageQuery) (any, error) {
			page = q
			return map[string]string{"text": "a < b"}, nil
		}, nil,
	})
	status, body := request(t, "GET", base+"/v1/changes?after=here&limit=7&site=docs&kind=new,gone&kind=moved&min_significance=0.5&requisites=on&wait=20s", "")
	var d struct {
		Rows   []struct{ URL string }
		Cursor string
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil || status != http.StatusOK || len(d.Rows) != 2 || d.Cursor != "there" {
		t.Errorf("answer %d, %v: %s", status, err, body)
	}
	want := ChangesQuery{After: "here", Limit: 7, Site: "docs", Kinds: []string{"new", "gone", "moved"}, Weight: 0.5, Requisites: true}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	status, body = request(t, "GET", base+"/v1/pages?url=https%3A%2F%2Fdocs.example.org%2F%3Fa%26b&version=-2&chunks=500&have=7", "")
	if want := (PageQuery{URL: "https://docs.example.org/?a&b", Version: -2, Chunks: "500", Have: 7}); page != want || status != http.StatusOK || !strings.Contains(body, `"a < b"`) {
		t.Errorf("answer %d to %+v: %s; want one to %+v", status, page, body, want)
	}
}

func TestRefusalsHaveTheirStatus(t *testing.T) {
	t.Parallel()
	var err error
	base := startWith(t, shelf{
		func(context.Context, ChangesQuery) (report.Document, error) { return report.Document{}, err },
		func(context.Context, PageQuery) (any, error) { return nil, err }, nil,
	})
	for _, test := range []struct {
		err    error
		status int
	}{
		{Refusal{http.StatusGone, errors.New("events are gone")}, http.StatusGone},
		{fmt.Errorf("asked: %w", Refusal{http.StatusNotFound, errors.New("no such page")}), http.StatusNotFound},
		{errors.New("the database does not answer"), http.StatusInternalServerError},
	} {
		err = test.err
		for _, question := range []string{"changes?after=now&wait=10s", "pages?url=x"} {
			if status, body := request(t, "GET", base+"/v1/"+question, ""); status != test.status || !strings.Contains(test.err.Error(), strings.TrimSpace(body)) {
				t.Errorf("%s = %d %q, want %d and %q", question, status, body, test.status, test.err)
			}
		}
	}
}

// waits asks for changes over a connection of its own, and says when the answer came.
func waits(t *testing.T, p *pipes, wait string) <-chan answered {
	c, began, come := p.connect(t), time.Now(), make(chan answered, 1)
	go func() {
		status, body := over(t, c, "/v1/changes?after=0&wait="+wait)
		come <- answered{status, body, time.Since(began)}
	}()
	return come
}

type answered struct {
	status int
	body   string
	took   time.Duration
}

// counts is a library in which an event comes so long after its first question; each look moves the cursor on.
func counts(after time.Duration) (shelf, *atomic.Int64) {
	var looks atomic.Int64
	began := time.Now()
	return shelf{changes: func(ctx context.Context, q ChangesQuery) (report.Document, error) {
		if n := looks.Add(1); q.After != fmt.Sprint(n-1) {
			return report.Document{}, fmt.Errorf("look %d is after %s", n, q.After)
		}
		rows := 0
		if after > 0 && time.Since(began) >= after {
			rows = 1
		}
		return listed(rows, fmt.Sprint(looks.Load())), ctx.Err()
	}}, &looks
}

// A question waits for longer than the server gives others, is answered within a second of what it waits for, and else when it said.
func TestAQuestionWaits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		comes, took time.Duration
		wait        string
	}{{40*time.Second + 500*time.Millisecond, 41 * time.Second, "1m"}, {0, time.Minute, "1m"}, {0, 2500 * time.Millisecond, "2s500ms"}, {0, 0, "0s"}} {
		synctest.Test(t, func(t *testing.T) {
			library, looks := counts(test.comes)
			p, stop := serveInBubble(t, library)
			defer stop()
			got := <-waits(t, p, test.wait)
			cursor := fmt.Sprintf(`"cursor": "%d"`, looks.Load())
			if got.status != http.StatusOK || got.took != test.took || strings.Contains(got.body, "docs.example.org") != (test.comes > 0) ||
				!strings.Contains(got.body, cursor) {
				t.Errorf("%d after %v: %s; want the answer after %v, with %s", got.status, got.took, got.body, test.took, cursor)
			}
		})
	}
}

func TestWhoHangsUpIsNotLookedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		library, looks := counts(0)
		p, stop := serveInBubble(t, library)
		defer stop()
		c := p.connect(t)
		if _, err := c.Write([]byte("GET /v1/changes?after=0&wait=1m HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5500 * time.Millisecond)
		c.Close()
		synctest.Wait()
		if time.Sleep(20 * time.Second); looks.Load() != 6 {
			t.Errorf("%d looks for an asker who hung up after the sixth", looks.Load())
		}
	})
}

func TestTheEndAnswersWhoWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		library, _ := counts(0)
		p, stop := serveInBubble(t, library)
		come := waits(t, p, "1m")
		time.Sleep(3500 * time.Millisecond)
		began := time.Now()
		stop()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the server took %v to end", took)
		}
		if got := <-come; got.status != http.StatusOK || !strings.Contains(got.body, `"cursor": "4"`) {
			t.Errorf("%d %s; want an answer with the last cursor", got.status, got.body)
		}
	})
}

// As many as may wait do; others are told so, and whoever does not wait is answered.
func TestNotAllConnectionsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, stop := serveInBubble(t, shelf{changes: func(context.Context, ChangesQuery) (report.Document, error) { return listed(0, "x"), nil }})
		defer stop()
		var come []<-chan answered
		for range mostWaiter {
			come = append(come, waits(t, p, "1m"))
		}
		synctest.Wait()
		if got := <-waits(t, p, "1m"); got.status != http.StatusServiceUnavailable || got.took > 0 {
			t.Errorf("one too many: %d after %v: %s", got.status, got.took, got.body)
		}
		if got := <-waits(t, p, "0s"); got.status != http.StatusOK || got.took > 0 {
			t.Errorf("one who does not wait: %d after %v: %s", got.status, got.took, got.body)
		}
		get(t, p.connect(t))
		for _, one := range come {
			if got := <-one; got.status != http.StatusOK || got.took != time.Minute {
				t.Errorf("one who waits: %d after %v: %s", got.status, got.took, got.body)
			}
		}
	})
}

// Pages are read two at a time. Who has waited too long for that is told so.
func TestFewPagesAreReadAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		p, stop := serveInBubble(t, shelf{page: func(context.Context, PageQuery) (any, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(3 * time.Second)
			return "said", nil
		}})
		defer stop()
		got := p.twenty(t, "/v1/pages?url=x")
		if want := map[int]int{http.StatusOK: 8, http.StatusServiceUnavailable: 12}; most.Load() != pagesAtOnce || cmp.Diff(want, got) != "" {
			t.Errorf("statuses %v with %d at a time, want %v with %d", got, most.Load(), want, pagesAtOnce)
		}
	})
}
