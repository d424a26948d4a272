package origin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawld/clock"
)

// Server serves a World on loopback, each host on a port of its own.
type Server struct {
	world     *World
	clock     clock.Clock
	log       *Log
	listeners []net.Listener
}

// Listen opens a port for every host of the world and writes the addresses into it. Host i listens on the port
// first+i, or on any free one where first is 0 or the port is taken. The ports accept connections at once, Run answers.
func Listen(w *World, c clock.Clock, log *Log, first int) (*Server, error) {
	s := &Server{world: w, clock: c, log: log}
	for i, h := range w.Hosts {
		l, err := listen(first, i)
		if err != nil {
			s.close()
			return nil, fmt.Errorf("listen for %s: %w", h.Label, err)
		}
		s.listeners = append(s.listeners, l)
		h.Addr = l.Addr().String()
	}
	return s, nil
}

func listen(first, i int) (net.Listener, error) {
	if first != 0 {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+i)); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// Run answers requests until the context ends and returns nil then. It closes the ports.
func (s *Server) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, h := range s.world.Hosts {
		server := &http.Server{Handler: &handler{host: h, clock: s.clock, log: s.log},
			ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
		group.Go(func() error {
			if err := server.Serve(s.listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", h.Label, err)
			}
			return nil
		})
		group.Go(func() error {
			<-ctx.Done()
			return server.Close()
		})
	}
	return group.Wait()
}

func (s *Server) close() {
	for _, l := range s.listeners {
		l.Close()
	}
}

// handler answers for one host.
type handler struct {
	host  *Host
	clock clock.Clock
	log   *Log
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	entry := h.log.begin(h.host.Addr, r, h.clock.Now())
	defer func() { h.log.end(entry, h.clock.Now()) }()

	page := h.host.Page(r.URL.RequestURI())
	if page == nil {
		entry.Status = http.StatusNotFound
		http.NotFound(w, r)
		return
	}
	if page.Traits.Latency > 0 {
		wait := h.clock.Now().Add(h.clock.Real(page.Traits.Latency))
		if h.clock.SleepUntil(r.Context(), wait) != nil {
			return
		}
	}
	h.answer(w, r, page, entry)
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, page *Page, entry *Entry) {
	now := h.clock.Now()
	entry.Version = page.Index(now)
	if !page.Alive(now) {
		h.refuse(w, r, page, entry)
		return
	}
	copied, err := page.current(entry.Version)
	if err != nil {
		entry.Status = http.StatusInternalServerError
		http.Error(w, err.Error(), entry.Status)
		return
	}
	entry.Digest = copied.digest
	head := w.Header()
	page.describe(head, copied, now)
	if copied.matches(r.Header, page.Traits.Validator) {
		entry.Status = http.StatusNotModified
		w.WriteHeader(entry.Status)
		return
	}
	entry.Status = http.StatusOK
	body, encoding, err := page.encode(r.Header, copied)
	if err != nil {
		entry.Status = http.StatusInternalServerError
		http.Error(w, err.Error(), entry.Status)
		return
	}
	if encoding != "" {
		head.Set("Content-Encoding", encoding)
	}
	head.Set("Content-Length", fmt.Sprint(len(body)))
	entry.Sent, entry.Broken = write(w, body)
}

// write sends a body such that the client has not all of it before the entry's End is noted: the last byte stays in the
// server's buffer until the handler has returned. Else a handler that is not scheduled for a while after its last write
// would note an End after the client's own, and the gap to the next request would look shorter than it was.
func write(w http.ResponseWriter, body []byte) (sent int, broken bool) {
	last := max(len(body)-1, 0)
	for _, part := range [][]byte{body[:last], body[last:]} {
		n, err := w.Write(part)
		sent += n
		if err != nil {
			return sent, true
		}
	}
	return sent, false
}

// refuse answers for a page that is not there: not yet, no more, or elsewhere.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, page *Page, entry *Entry) {
	entry.Status = http.StatusNotFound
	if entry.Version >= 0 {
		version := page.Versions[entry.Version]
		entry.Status = version.Status
		if version.Location != "" {
			http.Redirect(w, r, version.Location, version.Status)
			return
		}
	}
	http.Error(w, http.StatusText(entry.Status), entry.Status)
}

// describe sets the headers that 200 and 304 share.
func (p *Page) describe(head http.Header, c *copied, now time.Time) {
	head.Set("Date", now.UTC().Format(http.TimeFormat))
	contentType := p.Traits.ContentType
	if contentType == "" {
		contentType = "text/html; charset=utf-8"
	}
	head.Set("Content-Type", contentType)
	v := p.Traits.Validator
	if v == ETag || v == WeakETag || v == BothValidators {
		head.Set("ETag", c.etag(v))
	}
	if v == LastModified || v == BothValidators {
		head.Set("Last-Modified", c.at.UTC().Format(http.TimeFormat))
	}
	if p.Traits.Gzip {
		head.Set("Vary", "Accept-Encoding")
	}
	switch age := p.Traits.MaxAge; {
	case age == 0:
	case p.Traits.Expires:
		head.Set("Expires", now.Add(age).UTC().Format(http.TimeFormat))
	default:
		head.Set("Cache-Control", fmt.Sprintf("max-age=%d", int(age.Seconds())))
	}
}
