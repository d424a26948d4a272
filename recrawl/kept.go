package recrawl

import (
	"context"
	"net/http"
	"strings"
	"sync"
)

// A kept connection carries one answer after another, and where HTTP/1.1 says that one ends, the next begins: whatever a
// server sends beyond the end, as a body that a 304 has not or one that is longer than its Content-Length, would be read as
// the answer for whichever page of the host is asked for next. net/http closes a kept connection that brings something
// unasked, but only if it comes to read it before the next request is made, and it keeps a connection before anybody has
// seen the answer. So a connection is used again only
//
//   - if the answer before was looked at, and is not one that has no body and names one all the same (namesBody);
//   - if nothing has come since, neither in the buffers, which the reader shows by waiting for more, nor in the kernel;
//   - and if what it then brings is an answer at all: otherwise the page is asked for once more, on a fresh connection.
//
// What is left is an answer with a body whose surplus comes after the next request and looks like a whole answer. From within
// HTTP/1.1 that cannot be told from one.

// upkeep is what is known of a connection between two answers. It is safe for concurrent use.
type upkeep struct {
	mu      sync.Mutex
	reading bool          // guarded by mu; somebody waits for bytes, and so has used up all that came
	held    bool          // guarded by mu; a request was made whose answer was not looked at yet
	changed chan struct{} // guarded by mu; closed with the next change; nil: nobody waits for one
}

// try holds the connection if that can be done now. Otherwise it returns what is closed when it is worth another try.
func (u *upkeep) try(kept bool) (changed <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.held && (u.reading || !kept) {
		u.held = true
		return nil
	}
	if u.changed == nil {
		u.changed = make(chan struct{})
	}
	return u.changed
}

func (u *upkeep) set(what *bool, value bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	*what = value
	if u.changed != nil {
		close(u.changed)
		u.changed = nil
	}
}

// hold takes the connection for one request until release, and reports whether it could. A kept one must be silent, and is
// closed if it is not; net/http closes it if there is something in its buffers.
func (c *socket) hold(ctx context.Context, kept bool) bool {
	for {
		if kept && !silent(c.Conn) {
			c.Close()
			return false
		}
		changed := c.upkeep.try(kept)
		if changed == nil {
			return true
		}
		select {
		case <-changed:
		case <-c.closed:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// release lets others have the connection.
func (c *socket) release() { c.upkeep.set(&c.upkeep.held, false) }

// namesBody tells whether an answer that has no body names one. A 304 may (RFC 9110 section 8.6), and a server that means
// only the length of the page loses its connection by it. But one that goes on to send the body may do so as late as with its
// next answer, and that body is a page's: what it looks like is up to whoever wrote the page.
func namesBody(r *http.Response) bool {
	if r.ProtoMajor != 1 || r.StatusCode != http.StatusNotModified && r.StatusCode != http.StatusNoContent {
		return false
	}
	return len(r.TransferEncoding) > 0 || strings.Trim(r.Header.Get("Content-Length"), "0") != ""
}
