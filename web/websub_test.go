package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// hearer subscribes to one topic at one path, and is busy at another.
type hearer struct{ heard chan Push }

func (hearer) Intends(_ context.Context, path string, i Intent) (bool, error) {
	return path == "P" && (i == Intent{Mode: "subscribe", Topic: "t", Lease: 7 * time.Second} || i == Intent{Mode: "denied", Topic: "t", Reason: "no"} ||
		i == Intent{Mode: "subscribe", Topic: "long", Lease: longestLease}), nil
}

func (hearer) Expects(_ context.Context, path string) error {
	switch path {
	case "P":
		return nil
	case "BUSY":
		return Refusal{http.StatusTooManyRequests, errors.New("too often")}
	}
	return Refusal{http.StatusNotFound, errors.New("nobody")}
}

func (h hearer) Hear(_ context.Context, _ string, p Push) error { h.heard <- p; return nil }

// TestHubsAskBackAndTell: without the token, at the paths they were given, and within bounds.
func TestHubsAskBackAndTell(t *testing.T) {
	t.Parallel()
	h := hearer{make(chan Push, 9)}
	base := startFull(t, Options{Library: shelf{}, Subscriber: h}) + "/websub/"
	for query, want := range map[string]struct {
		status int
		says   string
	}{
		"P?hub.mode=subscribe&hub.topic=t&hub.challenge=%3Cb%3Ex&hub.lease_seconds=7":                     {200, "<b>x"},
		"P?hub.mode=subscribe&hub.topic=long&hub.challenge=x&hub.lease_seconds=9223372036854775807":       {200, "x"},
		"P?hub.mode=denied&hub.topic=t&hub.reason=no&hub.challenge=x":                                     {200, ""},
		"P?hub.mode=subscribe&hub.topic=u&hub.challenge=x&hub.lease_seconds=7":                            {404, "nobody asked for that here\n"},
		"P?hub.mode=subscribe&hub.topic=t&hub.challenge=x&hub.lease_seconds=-7":                           {404, "nobody asked for that here\n"},
		"Q?hub.mode=subscribe&hub.topic=t&hub.challenge=x&hub.lease_seconds=7":                            {404, "nobody asked for that here\n"},
		"P?hub.mode=subscribe&hub.topic=t&hub.lease_seconds=7":                                            {400, ""},
		"P?hub.mode=subscribe&hub.topic=t&hub.lease_seconds=7&hub.challenge=" + strings.Repeat("x", 5000): {400, ""},
		"P": {400, ""},
	} {
		answer, body := exchange(t, http.MethodGet, base+query, nil)
		if kind := answer.Header.Get("Content-Type"); answer.StatusCode != want.status || want.says != "" && body != want.says || answer.StatusCode == 200 && body != want.says ||
			!strings.HasPrefix(kind, "text/plain") || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%.90s = %d %q as %s, want %d %q", query, answer.StatusCode, body, kind, want.status, want.says)
		}
	}
	for path, want := range map[string]int{"P": 202, "Q": 404, "BUSY": 429, "": 404, "P/Q": 404} {
		if status, _ := post(t, base+path, "", "body of "+path, http.Header{"X-Hub-Signature": {"sha256=0"}}); status != want {
			t.Errorf("POST to %q = %d, want %d", path, status, want)
		}
	}
	if status, _ := post(t, base+"P", "", strings.Repeat("x", mostPushed+1), http.Header{}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("POST of more than is read = %d", status)
	}
	if len(h.heard) != 1 {
		t.Fatalf("%d pushes are heard, want 1", len(h.heard))
	}
	if got := <-h.heard; got.Signature != "sha256=0" || string(got.Body) != "body of P" {
		t.Errorf("heard %+v", got)
	}
	if status, _ := ask401(t, "GET", startWith(t, shelf{})+"/websub/P?hub.mode=subscribe&hub.topic=t&hub.challenge=x&hub.lease_seconds=7", nil); status != 404 {
		t.Errorf("where nobody subscribes: %d", status)
	}
}
