// Package web answers over HTTP, on loopback alone, how the daemon is: /healthz for whoever watches over it, /metrics
// for Prometheus and a page for a person. To those who show the token it says for a search index what happened to pages,
// /v1/changes, and what they say, /v1/pages, tells feed readers the newest of that, /feed, and shows a person what the
// reading commands print. Nothing here changes anything but POST /v1/visits, which gives pages their turn, /indexnow, where those
// who publish pages say which of them changed, and /websub/, where hubs say it that were asked to.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
)

// connections is how many are open at most; others wait until one of them is closed, which idle and slow ones soon are. The
// descriptors are the crawl's.
const connections = 256

// Options are what a Server shows.
type Options struct {
	Listen     string // host:port of a loopback address or of localhost; port 0 picks a free one
	Version    string
	Checks     []Check
	Metrics    prometheus.Gatherer
	Library    Library
	Subscriber Subscriber // hears hubs; nil: nobody does
	Sheets     []Sheet
	Clock      Clock // the machine's
	Log        *slog.Logger

	Token string // who shows it may see what is known of pages
	File  string // where it lies
}

// writeTimeout is how long an answer may take to be found and written, where it is not said to be more.
const writeTimeout = 30 * time.Second

// Server answers requests from the moment Listen returned it; Run does the answering.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// Taken is the error of Listen where another program has the address, which is its text.
type Taken string

// Error implements error.
func (t Taken) Error() string {
	return "listen: another program, perhaps another daemon, has " + string(t) + ": name another address with --listen, or off for none"
}

// Listen binds the address, so that a port that is taken (Taken) is known before anything is crawled. An address that other
// machines can reach is refused.
func Listen(o Options) (*Server, error) {
	if err := loopback(o.Listen); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, Taken(o.Listen)
	}
	if err != nil {
		return nil, fmt.Errorf("listen for health and metrics: %w", err)
	}
	stopping, stop := context.WithCancel(context.Background())
	s := &Server{
		listener: listener,
		http: &http.Server{
			Handler:           ownNames(routes(o, listener.Addr(), stopping)),
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       10 * time.Second,
			WriteTimeout:      writeTimeout,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    16 << 10,
			ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		},
	}
	s.http.RegisterOnShutdown(stop)
	return s, nil
}

// routes are all that is answered: to everybody how the daemon is, to those who show the token all else, but for what publishers say,
// who show keys of their own.
func routes(o Options, at net.Addr, stopping context.Context) http.Handler {
	guard, known, all := newGuard(o, at), http.NewServeMux(), http.NewServeMux()
	known.Handle("GET /v1/changes", newChanges(o, stopping))
	known.Handle("GET /v1/pages", newPages(o, stopping))
	known.Handle("POST /v1/visits", newVisits(o, stopping))
	all.Handle("/v1/", guard.only(known))
	known.Handle("GET /feed", newFeed(o, stopping))
	all.Handle("/feed", guard.readers(known))
	publishers := newIndexNow(o, stopping)
	all.Handle("GET /indexnow", publishers)
	all.Handle("POST /indexnow", publishers)
	if o.Subscriber != nil {
		listeners := newHubs(o, stopping, guard.knocks)
		all.Handle("GET /websub/{path}", listeners)
		all.Handle("POST /websub/{path}", listeners)
	}
	desk := newDesk(o)
	for _, sheet := range o.Sheets {
		known.Handle("GET /"+sheet.Name, desk.serve(sheet))
		all.Handle("/"+sheet.Name, guard.only(known))
	}
	all.Handle("GET /healthz", health{o.Checks})
	all.Handle("GET /metrics", promhttp.HandlerFor(o.Metrics, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	all.Handle("GET /{$}", front{o})
	all.HandleFunc("GET /open", guard.open)
	all.HandleFunc("POST /open", guard.open)
	return all
}

// Addr is the address that is listened on.
func (s *Server) Addr() netip.AddrPort {
	return netip.MustParseAddrPort(s.listener.Addr().String())
}

// Run answers until ctx ends, then lets what is under way finish for two seconds.
func (s *Server) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(netutil.LimitListener(s.listener, connections)) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve health and metrics: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.http.Shutdown(grace); err != nil {
		_ = s.http.Close() // whoever still hangs on gets a reset; we are ending anyway
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve health and metrics: %w", err)
	}
	return nil
}

// loopback refuses an address that other machines could reach.
func loopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("listen address %q: %w", listen, err)
	}
	if address, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !address.IsLoopback()) {
		return fmt.Errorf("listen address %q: only loopback (127.0.0.1, ::1, localhost); put a proxy in front for more", listen)
	}
	return nil
}

// ownNames refuses requests whose Host header is a name that is not ours: a page elsewhere whose name was made to point
// at loopback (DNS rebinding) gets nothing. It also sets the headers that keep answers from being more than they are.
func ownNames(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ownName(r.Host) {
			http.Error(w, "this name is not served here: ask for 127.0.0.1 or localhost, which a proxy in front must put in the Host header",
				http.StatusMisdirectedRequest)
			return
		}
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer") // an address may have the token in it
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func ownName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
