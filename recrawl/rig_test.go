package recrawl

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
)

// loopback is what tests are allowed to dial.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// rig is a visitor with one site whose start URL is that of the first page asked for.
type rig struct {
	t *testing.T
	*Visitor
	settings config.Settings
	clock    *clock.Virtual
}

// today is what the clock of a rig shows.
var today = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newRig makes a visitor that may dial loopback. Its limits are generous; a test of a limit sets its own.
func newRig(t *testing.T, edit func(*Config, *config.Settings)) *rig {
	t.Helper()
	r := &rig{t: t, settings: config.DefaultSettings(), clock: clock.NewVirtual(today)}
	r.settings.PageTime = 20 * time.Second
	r.settings.Audit = 0 // by lot, and so by the port of the server
	r.settings.BodyBytes, r.settings.WireBytes = 1<<20, 1<<20
	c := Config{
		Agent: config.Agent{Name: "recrawld", Contact: "https://example.net/bot"}, Version: "1.0", Clock: r.clock,
		Network: config.Network{Allow: loopback, Ports: []uint16{80, 443}},
		Sites: func(int32) (config.Site, *scope.Scope, *content.Rules) {
			return config.Site{Name: "test", Settings: r.settings}, nil, nil
		},
	}
	if edit != nil {
		edit(&c, &r.settings)
	}
	v, err := New(c)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(v.Close)
	r.Visitor = v
	return r
}

// listen starts a hostile origin for the length of the test.
func listen(t *testing.T, answers map[string]hostile.Answer) *hostile.Origin {
	t.Helper()
	o, err := hostile.Listen("127.0.0.1:0", answers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// servedBy connects the visitor, for a test in a bubble, to a server that answers everything whole with this body. There
// nobody is too slow because the machine is: time passes only while all wait.
func (r *rig) servedBy(body string) {
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	r.fetcher.dialer.connect = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			for from := bufio.NewReader(far); ; {
				if _, err := http.ReadRequest(from); err != nil {
					return
				}
				if _, err := far.Write(answer); err != nil {
					return
				}
			}
		}()
		return near, nil
	}
}

// pageOf is a page of which nothing is known yet.
func pageOf(t *testing.T, url string) models.Page {
	t.Helper()
	u, err := canon.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return models.Page{URL: u.String(), ID: models.PageID(u.String()), State: models.StateNew}
}

// allowAll is a robots row of the page's origin that was fetched just now and holds no rules.
func allowAll(t *testing.T, page models.Page) models.Robots { return robotsRow(t, page, "") }

func robotsRow(t *testing.T, page models.Page, body string) models.Robots {
	t.Helper()
	u, err := canon.Parse(page.URL)
	if err != nil {
		t.Fatal(err)
	}
	at := models.At(today)
	return models.Robots{Origin: u.Origin(), Status: 200, Body: []byte(body), FetchedAt: at, GoodAt: at,
		ExpiresAt: models.At(today.Add(24 * time.Hour))}
}

// visit gives a page its turn, with a robots.txt that allows everything.
func (r *rig) visit(page models.Page) models.Outcome {
	r.t.Helper()
	return r.turn(r.t.Context(), page, allowAll(r.t, page))
}

func (r *rig) turn(ctx context.Context, page models.Page, robots ...models.Robots) models.Outcome {
	return r.Visit(ctx, models.Turn{Robots: robots, Page: models.LeasedPage{Page: page}, Now: r.clock.Now()})
}

// fetch visits a page for the first time.
func (r *rig) fetch(url string) models.Outcome {
	r.t.Helper()
	return r.visit(pageOf(r.t, url))
}

// after is the page as a good visit leaves it.
func after(page models.Page, out models.Outcome) models.Page {
	page.State, page.Version, page.Bytes = models.StateLive, page.Version+1, int64(len(out.Body))
	page.Digest, page.TextDigest = out.Digest, out.TextDigest
	page.ETag, page.LastModified = out.ETag, out.LastModified
	return page
}

// wantFailed checks that a visit failed with the class and left nothing that could replace a good copy; and not because the time of its page was over,
// which ends whatever no bound of its own does.
func wantFailed(t *testing.T, out models.Outcome, class models.ErrorClass) {
	t.Helper()
	if strings.Contains(out.Detail, errPageTime.Error()) {
		t.Errorf("visit = %v %v (%s), want it ended by a bound of its own", out.Kind, out.Class, out.Detail)
	}
	wantFailedAnyhow(t, out, class)
}

// wantFailedAnyhow is wantFailed where the time of the page may have been over.
func wantFailedAnyhow(t *testing.T, out models.Outcome, class models.ErrorClass) {
	t.Helper()
	if out.Kind != models.Failed || out.Class != class {
		t.Errorf("visit = %v %v (%s), want %v %v", out.Kind, out.Class, out.Detail, models.Failed, class)
	}
	if out.Body != nil || !out.Digest.IsZero() || out.LinksKnown {
		t.Errorf("a failed visit left a body of %d bytes, digest %v, links known %v", len(out.Body), out.Digest, out.LinksKnown)
	}
	if out.Detail == "" {
		t.Errorf("a failed visit (%v) says nothing about why", class)
	}
}

// wantKind checks what a visit found.
func wantKind(t *testing.T, out models.Outcome, kind models.OutcomeKind) {
	t.Helper()
	if out.Kind != kind {
		t.Errorf("visit = %v %v (%s), want %v", out.Kind, out.Class, out.Detail, kind)
	}
}

// wantBody checks that a visit brought that body whole.
func wantBody(t *testing.T, out models.Outcome, body string) {
	t.Helper()
	wantKind(t, out, models.First)
	if string(out.Body) != body {
		t.Errorf("body = %.200q (%d bytes), want %.200q (%d bytes)", out.Body, len(out.Body), body, len(body))
	}
	if out.Digest != models.DigestOf([]byte(body)) {
		t.Errorf("digest of %.200q is not that of the body", body)
	}
}
