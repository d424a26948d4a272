package recrawl

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/internal/hostile"
	"recrawld/models"
)

// forged looks like the answer to a request that was not made yet.
const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

// surpluses are what a server may send beyond an answer.
var surpluses = map[string]string{"no HTTP": "hello", "a line": "hello\r\n", "forged": forged, "headers without end": "HTTP/1.1 200 OK\r\nX: y"}

// TestFault_051_BodyOfNoBodyComesLate: that a body belongs to an answer without one is named before it comes, and it may come
// as late as with the next answer.
func TestFault_051_BodyOfNoBodyComesLate(t *testing.T) {
	t.Parallel()
	for head, length := range map[string]string{
		"304 Not Modified": "Content-Length: 5", "304 not modified": "Transfer-Encoding: chunked",
		"204 No Content": "Content-Length: 0000000000005", "204 no content": "Transfer-Encoding: chunked",
	} {
		for name, surplus := range surpluses {
			t.Run(head+" "+name, func(t *testing.T) {
				t.Parallel()
				o := listen(t, map[string]hostile.Answer{
					"/":      hostile.Owing("HTTP/1.1 "+head+"\r\n"+length+"\r\n\r\n", surplus),
					"/other": hostile.Whole(200, nil, "<p>other"),
				})
				r := newRig(t, nil)
				r.fetch(o.URL("/"))
				wantAsked(t, r.fetch(o.URL("/other")), "<p>other", 1)
				wantConnections(t, o, 1, 2)
			})
		}
	}
}

// wantAsked checks that a visit brought the body by so many requests.
func wantAsked(t *testing.T, out models.Outcome, body string, requests int) {
	t.Helper()
	wantBody(t, out, body)
	if out.Sent != requests {
		t.Errorf("Sent = %d, want %d", out.Sent, requests)
	}
}

// wantConnections checks by which connections the requests so far came.
func wantConnections(t *testing.T, o *hostile.Origin, want ...int) {
	t.Helper()
	var got []int
	for _, asked := range o.Requests() {
		got = append(got, asked.Conn)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("requests came by the connections %v, want %v", got, want)
	}
}

// Honest answers without a body leave the connection as it is.
func TestNoBodyKeepsTheConnection(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(
		hostile.Owing("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n", ""), hostile.Owing("HTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n", ""),
		hostile.Owing("HTTP/1.1 204 No Content\r\n\r\n", ""), hostile.Whole(200, nil, "<p>one"))})
	r := newRig(t, nil)
	for range 3 {
		r.fetch(o.URL("/"))
	}
	wantAsked(t, r.fetch(o.URL("/")), "<p>one", 1)
	wantConnections(t, o, 1, 1, 1, 1)
}

// TestFault_024_SurplusComesAtOnce: what is there when the next request is to be sent is no answer to it, whatever it looks
// like, and the request is not sent where it would be taken for one.
func TestFault_024_SurplusComesAtOnce(t *testing.T) {
	t.Parallel()
	for name, surplus := range surpluses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, head := range []string{"200 OK\r\nContent-Length: 4\r\n\r\n<p>a", "304 Not Modified\r\n\r\n",
				"200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"} {
				o := listen(t, map[string]hostile.Answer{
					"/":      hostile.Owing("HTTP/1.1 "+head+surplus, ""),
					"/other": hostile.Whole(200, nil, "<p>other"),
				})
				r := newRig(t, nil)
				for range 50 { // which of the two comes first is a race
					r.fetch(o.URL("/"))
					wantAsked(t, r.fetch(o.URL("/other")), "<p>other", 1)
				}
				if n := len(o.Requests()); n != 100 {
					t.Errorf("100 visits made %d requests", n)
				}
			}
		})
	}
}

// TestFault_024_SurplusComesLate: an answer to another request that turns out to be none is blamed on the connection.
func TestFault_024_SurplusComesLate(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/":      hostile.Owing("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<p>a", " tail of the page"),
		"/other": hostile.Whole(200, nil, "<p>other"),
	})
	r := newRig(t, nil)
	wantAsked(t, r.fetch(o.URL("/")), "<p>a", 1)
	wantAsked(t, r.fetch(o.URL("/other")), "<p>other", 2)
	wantConnections(t, o, 1, 1, 2)
	wantAsked(t, r.fetch(o.URL("/")), "<p>a", 1)
	out := r.turn(t.Context(), pageOf(t, o.URL("/"))) // robots.txt, of which there is none
	if wantKind(t, out, models.RobotsFetched); out.Sent != 2 || out.Status != 404 {
		t.Errorf("robots.txt: status %d, Sent %d; want 404 and 2", out.Status, out.Sent)
	}
}

// TestFault_024_AskedTwiceAtMost: what is no answer on a connection of its own is the server's, and nobody asks again.
func TestFault_024_AskedTwiceAtMost(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]hostile.Answer{
		"malformed":       hostile.Owing("hello\r\n\r\n", ""),
		"endless headers": hostile.EndlessHeaders(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "<p>good"), "/bad": answer})
			r := newRig(t, nil)
			for i, want := range []int{1, 2, 1} {
				if i == 1 {
					wantAsked(t, r.fetch(o.URL("/")), "<p>good", 1)
				}
				before := len(o.Requests())
				out := r.fetch(o.URL("/bad"))
				if n := len(o.Requests()) - before; out.Kind != models.Failed || out.Sent != want || n != want {
					t.Errorf("visit %d = %v with Sent %d by %d requests, want a failed one with %d", i, out.Kind, out.Sent, n, want)
				}
			}
		})
	}
}

// TestFault_024_OnlyAFreshConnectionIsTrusted: the second request goes by none of the connections that are kept.
func TestFault_024_OnlyAFreshConnectionIsTrusted(t *testing.T) {
	t.Parallel()
	const parallel = 4
	var met sync.WaitGroup
	met.Add(parallel)
	o := listen(t, map[string]hostile.Answer{
		"/": func(c *hostile.Conn) {
			met.Done()
			met.Wait()
			hostile.Owing("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<p>a", "hello")(c)
		},
		"/other": hostile.Whole(200, nil, "<p>other"),
	})
	r := newRig(t, nil)
	var visits sync.WaitGroup
	for range parallel {
		visits.Go(func() { wantBody(t, r.fetch(o.URL("/")), "<p>a") })
	}
	visits.Wait()
	wantAsked(t, r.fetch(o.URL("/other")), "<p>other", 2)
	if n := r.Connections(); n != 1 {
		t.Errorf("%d connections are open, want the fresh one alone", n)
	}
}

// TestSurplusAmongVisitsAtOnce: a connection is kept before its answer was looked at, and another visit may have it by then.
func TestSurplusAmongVisitsAtOnce(t *testing.T) {
	t.Parallel()
	answers := map[string]hostile.Answer{"/": hostile.Owing("HTTP/1.1 304 Not Modified\r\nContent-Length: 45\r\n\r\n", forged)}
	for i := range 8 {
		answers[fmt.Sprintf("/%d", i)] = hostile.Whole(200, nil, strings.Repeat("x", i+1))
	}
	o, r := listen(t, answers), newRig(t, nil)
	var visits sync.WaitGroup
	for i := range 8 {
		visits.Go(func() {
			for range 50 {
				r.fetch(o.URL("/"))
				wantAsked(t, r.fetch(o.URL(fmt.Sprintf("/%d", i))), strings.Repeat("x", i+1), 1)
			}
		})
	}
	visits.Wait()
	if n := len(o.Requests()); n != 800 {
		t.Errorf("800 visits made %d requests", n)
	}
}

// TestSurplusOverTLS: what came stands in the buffers of TLS as well.
func TestSurplusOverTLS(t *testing.T) {
	t.Parallel()
	o, r := listenTLS(t, clock.System{}.Now().Add(time.Hour), true, "127.0.0.1")
	for path, answer := range map[string]hostile.Answer{
		"/at-once": hostile.Owing("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<p>a"+forged, ""),
		"/late":    hostile.Owing("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<p>a", "hello"),
		"/named":   hostile.Owing("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n", forged),
	} {
		o.Set(path, answer)
	}
	for range 20 {
		for path, requests := range map[string]int{"/": 1, "/at-once": 1, "/late": 2, "/named": 1} {
			r.fetch(o.URL(path))
			wantAsked(t, r.fetch(o.URL("/")), "<p>secret", requests)
		}
	}
}
