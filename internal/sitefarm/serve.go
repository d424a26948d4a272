package sitefarm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"recrawld/clock"
)

// Server answers for a farm.
type Server struct {
	farm     *Farm
	listener net.Listener
	cert     tls.Certificate
	bodies   sync.Pool

	whole, notModified atomic.Int64
}

// Answers is how many pages were answered so far with 200 and with 304.
func (s *Server) Answers() (whole, notModified int64) { return s.whole.Load(), s.notModified.Load() }

// Listen opens the port of all hosts of a farm. Only this machine reaches it.
func Listen(f *Farm) (*Server, error) {
	s := &Server{farm: f, bodies: sync.Pool{New: func() any { return new([]byte) }}}
	if f.TLS {
		var err error
		if s.cert, err = certificate(f.Hosts); err != nil {
			return nil, fmt.Errorf("make a certificate: %w", err)
		}
	}
	var err error
	if s.listener, err = listen(f.Hosts); err != nil {
		return nil, fmt.Errorf("listen for a farm of sites: %w", err)
	}
	return s, nil
}

// Port is the port of all hosts.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Authority is the certificate of the farm in PEM, which its clients have to trust; nil without TLS.
func (s *Server) Authority() []byte { return authority(s.cert) }

// Run answers until the context ends and returns nil then. It closes the port.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{Handler: s, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	var err error
	if s.farm.TLS {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{s.cert}}
		err = server.ServeTLS(s.listener, "", "")
	} else {
		err = server.Serve(s.listener)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve a farm of sites: %w", err)
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := s.farm
	host, page := f.hostOf(reached(r)), f.pageOf(r.URL.Path)
	if host < 0 || page < 0 {
		http.NotFound(w, r) // robots.txt among them: everything is allowed
		return
	}
	if f.Latency > 0 {
		var machine clock.System
		if machine.SleepUntil(r.Context(), machine.Now().Add(f.Latency)) != nil {
			return
		}
	}
	tag, since := r.Header.Get("If-None-Match"), r.Header.Get("If-Modified-Since")
	version := f.ask(host, page, tag != "" || since != "")
	head := w.Header()
	head["Etag"] = []string{ETag(version)}
	head["Last-Modified"] = []string{modified(version).Format(http.TimeFormat)}
	head["Cache-Control"] = []string{"max-age=0, must-revalidate"}
	head["Content-Type"] = []string{"text/html; charset=utf-8"} // with a 304, too: some clients end without
	if tag == ETag(version) || tag == "" && unmodified(since, version) {
		s.notModified.Add(1)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.whole.Add(1)
	body := s.bodies.Get().(*[]byte)
	defer s.bodies.Put(body)
	*body = f.AppendPage((*body)[:0], host, page, version)
	head["Content-Length"] = []string{strconv.Itoa(len(*body))}
	_, _ = w.Write(*body) // who went away needs no answer
}

// reached is the address that a request came to.
func reached(r *http.Request) netip.Addr {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return local.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

func unmodified(since string, version uint32) bool {
	if since == "" {
		return false
	}
	at, err := time.Parse(http.TimeFormat, since)
	return err == nil && !modified(version).After(at)
}
