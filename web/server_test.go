package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
)

// start runs a server with these checks for the length of the test and returns its base URL.
func start(t *testing.T, checks ...Check) string {
	t.Helper()
	return startWith(t, nil, checks...)
}

func startWith(t *testing.T, library Library, checks ...Check) string {
	t.Helper()
	return startFull(t, Options{Library: library, Checks: checks})
}

// token opens the servers of the tests.
const token = "a-token-of-the-tests"

func startFull(t *testing.T, o Options) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	visits := prometheus.NewCounter(prometheus.CounterOpts{Name: "recrawld_test_total", Help: "For the test."})
	visits.Add(7)
	registry.MustRegister(visits)
	o.Listen, o.Version, o.Metrics, o.Clock = "127.0.0.1:0", "1.2.3", registry, clock.System{}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Token, o.File = token, "/data/web.token"
	server, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("Run = %v, want nil after the end of its context", err)
		}
	})
	return "http://" + server.Addr().String()
}

// request sends a request with the token and this Host header ("" is the address itself) and returns status and body.
func request(t *testing.T, method, url, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func well(context.Context) error { return nil }

func TestHealthNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	down := func(context.Context) error { return errors.New("no answer") }
	for _, test := range []struct {
		name   string
		checks []Check
		status int
		said   map[string]string
	}{
		{"all well", []Check{{"store", well}, {"disk", well}}, 200, map[string]string{"store": "ok", "disk": "ok"}},
		{"one is not", []Check{{"store", down}, {"disk", well}}, 503, map[string]string{"store": "no answer", "disk": "ok"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			status, body := request(t, "GET", start(t, test.checks...)+"/healthz", "")
			var got Health
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("answer %q: %v", body, err)
			}
			if status != test.status || got.OK != (test.status == 200) || len(got.Checks) != len(test.said) {
				t.Errorf("status %d, answer %s; want %d, %v", status, body, test.status, test.said)
			}
			for name, want := range test.said {
				if got.Checks[name] != want {
					t.Errorf("check %s = %q, want %q", name, got.Checks[name], want)
				}
			}
		})
	}
}

func TestMetricsAndFrontPage(t *testing.T) {
	t.Parallel()
	base := start(t, Check{"store", well})
	if status, body := request(t, "GET", base+"/metrics", ""); status != 200 || !strings.Contains(body, "recrawld_test_total 7") {
		t.Errorf("/metrics = %d %q, want the registry's counter", status, body)
	}
	if status, body := request(t, "GET", base+"/", "localhost"); status != 200 || !strings.Contains(body, "recrawld 1.2.3") {
		t.Errorf("/ = %d %q, want the page with the version", status, body)
	}
}

// TestFault_104_ForeignNamesAreRefused: a page elsewhere whose name was made to lead to loopback gets nothing.
func TestFault_104_ForeignNamesAreRefused(t *testing.T) {
	t.Parallel()
	base := start(t, Check{"store", well})
	for _, test := range []struct {
		method, path, host string
		status             int
	}{
		{"GET", "/healthz", "attacker.example", http.StatusMisdirectedRequest},
		{"GET", "/metrics", "attacker.example:8686", http.StatusMisdirectedRequest},
		{"GET", "/healthz", "127.0.0.1.attacker.example", http.StatusMisdirectedRequest},
		{"GET", "/healthz", "10.0.0.1", http.StatusMisdirectedRequest},
		{"GET", "/v1/pages?url=https://docs.example.org/", "attacker.example", http.StatusMisdirectedRequest},
		{"GET", "/v1/changes?after=now", "attacker.example:8686", http.StatusMisdirectedRequest},
		{"GET", "/healthz", "[::1]:8686", http.StatusOK},
		{"GET", "/healthz", "localhost:8686", http.StatusOK},
		{"GET", "/nothing", "", http.StatusNotFound},
	} {
		if status, _ := request(t, test.method, base+test.path, test.host); status != test.status {
			t.Errorf("%s %s for %q = %d, want %d", test.method, test.path, test.host, status, test.status)
		}
	}
}

func TestListenRefusesWhatOthersCanReach(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80", "example.org:80", "nonsense"} {
		if server, err := Listen(Options{Listen: listen}); err == nil {
			t.Errorf("Listen(%q) = %v, want a refusal", listen, server.Addr())
		}
	}
}

func TestListenSaysThatThePortIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = Listen(Options{Listen: taken.Addr().String(), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err == nil {
		t.Fatal("Listen on a taken port succeeded")
	}
	want := "listen: another program, perhaps another daemon, has " + taken.Addr().String() + ": name another address with --listen, or off for none"
	if err.Error() != want {
		t.Errorf("Listen on a taken port = %v, want %s", err, want)
	}
}

// Who put a proxy in front is told what it must do.
func TestAnotherNameIsToldWhichIsServed(t *testing.T) {
	t.Parallel()
	status, body := request(t, "GET", start(t, Check{"store", well})+"/", "crawler.example.org")
	if status != http.StatusMisdirectedRequest || !strings.Contains(body, "127.0.0.1") || !strings.Contains(body, "Host") {
		t.Errorf("answer %d %q, want %d and the name to ask for", status, body, http.StatusMisdirectedRequest)
	}
}
