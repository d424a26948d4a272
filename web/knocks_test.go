package web

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recrawld/report"
)

// journal is a log that a test reads.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

// Write implements io.Writer.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) log() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// counting counts what is asked of a library that writes.
type counting struct {
	shelf
	writes *atomic.Int64
}

// Visit implements Library.
func (c counting) Visit(ctx context.Context, urls []string) (report.Document, error) {
	c.writes.Add(1)
	return c.shelf.Visit(ctx, urls)
}

// basic is a user's name and password.
func basic(user, password string) http.Header {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header
}

// TestFault_102_WhoMayOnlyLookChangesNothing: a browser that was let in, by its cookie, and a feed reader, by its password, on whatever
// route, by whatever method that may write; and the log says that it was tried.
func TestFault_102_WhoMayOnlyLookChangesNothing(t *testing.T) {
	t.Parallel()
	said, writes := new(journal), new(atomic.Int64)
	base := startFull(t, Options{Library: counting{feedOf(), writes}, Log: said.log(), Sheets: []Sheet{sheetOf("status", "secret")}})
	shown := map[string]http.Header{"a cookie": {"Cookie": {cookieOf(base) + "=" + token}}, "the password": basic("reader", token),
		"both": {"Cookie": {cookieOf(base) + "=" + token}, "Authorization": basic("", token)["Authorization"]}}
	for _, path := range []string{"/v1/visits?url=http://h/", "/v1/changes?after=now", "/v1/pages?url=http://h/", "/v1/none", "/feed", "/status"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			for with, header := range shown {
				if status, body := ask401(t, method, base+path, header); status != http.StatusUnauthorized || !strings.Contains(body, "is wanted") {
					t.Errorf("%s %s with %s = %d %s, want %d and what is wanted", method, path, with, status, body, http.StatusUnauthorized)
				}
			}
		}
	}
	if n := writes.Load(); n != 0 {
		t.Errorf("%d writes for those who may look", n)
	}
	if text := said.String(); !strings.Contains(text, "requests were refused") || !strings.Contains(text, "with_a_wrong_token=0 beyond_what_theirs_allows=1") {
		t.Errorf("the log says %q, want that somebody asked for more than he may", text)
	}
	if status, body := ask401(t, "POST", base+"/v1/visits?url=http://h/", http.Header{"Authorization": {"Bearer " + token}}); status != http.StatusOK || writes.Load() != 1 {
		t.Errorf("with the token = %d %s and %d writes", status, body, writes.Load())
	}
}

// TestFault_105_WhoTriesTokensIsToldOf: nothing opens, whichever way they are shown, the log has a line for all of it that quotes nothing,
// and whoever has the token is held up by none of that.
func TestFault_105_WhoTriesTokensIsToldOf(t *testing.T) {
	t.Parallel()
	said := new(journal)
	base := startFull(t, Options{Library: feedOf(), Log: said.log(), Sheets: []Sheet{sheetOf("status", "secret")}})
	const tries = 50
	for i := range tries {
		guess := "guess\x1b" + strings.Repeat("A", i)
		if i < len(token) {
			guess = token[:i] + "x" + token[i+1:]
		}
		clean := strings.ReplaceAll(guess, "\x1b", "")
		for way, status := range map[string]func() (int, string){
			"a header": func() (int, string) {
				return ask401(t, "GET", base+"/status", http.Header{"Authorization": {"Bearer " + clean}})
			},
			"a password": func() (int, string) { return ask401(t, "GET", base+"/feed", basic("x", guess)) },
			"a cookie": func() (int, string) {
				return ask401(t, "GET", base+"/status", http.Header{"Cookie": {cookieOf(base) + "=" + clean}})
			},
			"a link": func() (int, string) { return ask401(t, "GET", base+"/open?token="+url.QueryEscape(guess), nil) },
		} {
			if got, body := status(); got != http.StatusUnauthorized || strings.Contains(body, "secret") {
				t.Errorf("%s with %q = %d %s", way, guess, got, body)
			}
		}
	}
	if status, body := request(t, "GET", base+"/status", ""); status != http.StatusOK || !strings.Contains(body, "secret") {
		t.Errorf("who has the token, while somebody tries others, gets %d %s", status, body)
	}
	text := said.String()
	if n := strings.Count(text, "requests were refused"); n < 1 || n > 5 || strings.Contains(text, "guess") || strings.Contains(text, token[:8]) {
		t.Errorf("after %d tries the log says\n%s", 4*tries, text)
	}
	if status, _ := ask401(t, "GET", base+"/status", nil); status != http.StatusUnauthorized {
		t.Errorf("without any token = %d", status)
	}
}

// stopped is a clock that a test sets.
type stopped struct{ now time.Time }

// Now implements Clock.
func (s *stopped) Now() time.Time { return s.now }

// SleepUntil implements Clock.
func (s *stopped) SleepUntil(context.Context, time.Time) error { return nil }

// A line a minute has all that came since the one before, and a clock that is set back silences nothing.
func TestKnocksAreToldOnceAMinute(t *testing.T) {
	t.Parallel()
	said := new(journal)
	machine := new(stopped)
	k := &knocks{log: said.log(), clock: machine}
	at := func(at time.Time, right bool, want string) {
		t.Helper()
		machine.now = at
		before := said.String()
		k.note(right)
		line := strings.TrimPrefix(said.String(), before)
		if _, counts, _ := strings.Cut(strings.TrimSpace(line), "refused\" "); counts != want {
			t.Errorf("at %v the log says %q, want %q", at, counts, want)
		}
	}
	at(feedAt, false, "with_a_wrong_token=1 beyond_what_theirs_allows=0")
	at(feedAt.Add(time.Second), false, "")
	at(feedAt.Add(59*time.Second), true, "")
	at(feedAt.Add(time.Minute), false, "with_a_wrong_token=2 beyond_what_theirs_allows=1")
	at(feedAt.Add(-time.Hour), true, "with_a_wrong_token=0 beyond_what_theirs_allows=1")
}
