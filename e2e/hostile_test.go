package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/internal/hostile"
	"recrawld/models"
)

const (
	goodBody = "<!doctype html><title>good</title><p>The copy that must not be lost."
	nextBody = "<!doctype html><title>next</title><p>The copy after the trouble was over."
)

// fault is a host that answers well once, then badly, then well again.
type fault struct {
	name  string
	bad   hostile.Answer
	want  []models.ErrorClass // one of them; none: the answer is a version like any other
	body  string              // of that version
	first string              // robots.txt of the host, "" for none
	down  bool                // nobody listens while the fault lasts
}

func faults() []fault {
	whole := func(status int, body string, fields ...string) hostile.Answer {
		head := map[string]string{"Content-Type": "text/html; charset=utf-8"}
		if len(fields) == 2 {
			head[fields[0]] = fields[1]
		}
		return hostile.Whole(status, head, body)
	}
	const nuls = "<p>a\x00b</p\x00><!-- \x00 --><p>c<b><i></p>\x00<table><td>\xff\xfe<"
	return []fault{
		{name: "refuses connections", down: true, want: classes(models.ConnRefused)},
		{name: "reset before the answer", bad: hostile.Reset(), want: classes(models.ConnReset, models.ConnOther)},
		{name: "reset in the body", bad: hostile.ResetMidBody(), want: classes(models.ConnReset, models.BodyShort)},
		{name: "hangs up", bad: hostile.Deaf(), want: classes(models.ConnReset, models.ConnOther, models.HTTPProtocol)},
		{name: "never answers", bad: hostile.Silent(), want: classes(models.HeaderTimeout)},
		{name: "slow body", bad: hostile.SlowBody(200 * time.Millisecond), want: classes(models.BodySlow)},
		{name: "stalled body", bad: hostile.StalledBody(), want: classes(models.BodySlow)},
		{name: "endless body", bad: hostile.EndlessBody(), want: classes(models.BodyTooLarge)},
		{name: "endless headers", bad: hostile.EndlessHeaders(), want: classes(models.HeaderTooLarge)},
		{name: "gzip bomb", bad: hostile.GzipBomb(64<<20, 1), want: classes(models.BodyTooLarge)},
		{name: "gzip bomb in a gzip", bad: hostile.GzipBomb(64<<20, 2), want: classes(models.BodyTooLarge, models.BadEncoding)},
		{name: "body shorter than said", bad: hostile.HalfClose(true), want: classes(models.BodyShort, models.BodySlow)},
		{name: "chunks cut off", bad: hostile.Chunked("ffff\r\nxx"), want: classes(models.BodyShort, models.HTTPProtocol)},
		{name: "unknown encoding", bad: whole(200, "??", "Content-Encoding", "x-odd"), want: classes(models.BadEncoding)},
		{name: "more than was asked for", bad: func(c *hostile.Conn) {
			c.Send(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s and more", len(nextBody), nextBody))
		}, body: nextBody},
		{name: "no HTTP", bad: hostile.Raw("SSH-2.0-OpenSSH_9.9\r\n"), want: classes(models.HTTPProtocol)},
		{name: "empty page", bad: whole(200, ""), want: classes(models.EmptyBody)},
		{name: "error page", bad: whole(500, "<p>oops"), want: classes(models.ServerError)},
		{name: "too many requests", bad: whole(429, "<p>slower"), want: classes(models.TooManyRequests)},
		{name: "forbidden", bad: whole(403, "<p>no"), want: classes(models.Refused)},
		{name: "304 to nobody's condition", bad: whole(304, ""), want: classes(models.BadNotModified)},
		{name: "redirect to itself", bad: hostile.Redirect(302, "/"), want: classes(models.RedirectLoop)},
		{name: "redirect to a file", bad: hostile.Redirect(302, "file:///etc/passwd"), want: classes(models.RedirectBlocked, models.RedirectBad)},
		{name: "redirect to a private address", bad: hostile.Redirect(302, "http://10.1.2.3/"), want: classes(models.RedirectBlocked)},
		{name: "redirect without target", bad: hostile.Redirect(302), want: classes(models.RedirectBad)},
		{name: "redirect to a URL of 68 KB", bad: hostile.Redirect(302, "/"+strings.Repeat("x", 68<<10)),
			want: classes(models.RedirectBlocked, models.RedirectBad)},
		{name: "NULs and broken HTML", bad: whole(200, nuls), body: nuls},
		{name: "link of 68 KB", bad: whole(200, `<a href="/`+strings.Repeat("y", 68<<10)+`">x</a><p>long`),
			body: `<a href="/` + strings.Repeat("y", 68<<10) + `">x</a><p>long`},
		{name: "robots.txt of 10 MB", bad: whole(200, nextBody+"robots"), body: nextBody + "robots",
			first: "User-agent: *\nDisallow: /private/\n" + strings.Repeat("# padding padding padding\n", 400_000)},
	}
}

func classes(list ...models.ErrorClass) []models.ErrorClass { return list }

// hostileRun is a daemon that follows one host for each fault.
type hostileRun struct {
	t       *testing.T
	dir     string
	faults  []fault
	origins []*hostile.Origin
}

// TestEndToEndBadInput lets every fault happen to a page that has a good copy. The fault gets a name and a time for the
// next try, the copy stays as it is in database and mirror, and when the fault is over the page goes on.
func TestEndToEndBadInput(t *testing.T) {
	longTest(t)
	h := &hostileRun{t: t, dir: t.TempDir(), faults: faults()}
	args := append(h.prepare(), h.untrusted())
	d := launch(t, filepath.Join(h.dir, "daemon.log"), args...)

	h.until("a good copy of every page", d, func(s state, i int) bool { return h.page(s, i).version == 1 })
	for i, o := range h.origins {
		if h.faults[i].down {
			o.Close()
		}
		o.Set("/", h.faults[i].bad)
	}
	h.until("every fault has its name", d, func(s state, i int) bool { return h.faulty(s, i) != nil })
	h.checkFaults(readState(t, openDatabase(t, h.database())))
	for i, o := range h.origins {
		good := hostile.Whole(http.StatusOK, map[string]string{"Content-Type": "text/html"}, nextBody)
		if h.faults[i].down {
			h.origins[i] = h.listen(o.Addr(), map[string]hostile.Answer{"/": good})
		}
		o.Set("/", good)
	}
	h.until("every page recovered", d, func(s state, i int) bool {
		p := h.page(s, i)
		return p.state == models.StateLive && p.digest == models.DigestOf([]byte(nextBody)).String()
	})
	d.stop()
	h.checkUntrusted(readState(t, openDatabase(t, h.database())), args[len(args)-1])
	h.checkLog()
	if !t.Failed() {
		t.Logf("bad input: %d faults named, old copy intact, daemon up, page recovered", len(h.faults))
	}
}

// checkLog checks that everything in the log is ours: no server's bytes come there by way of a library.
func (h *hostileRun) checkLog() {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "daemon.log"))
	if err != nil {
		h.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "time=") {
			h.t.Errorf("in the log, by others: %q", line)
		}
	}
}

// prepare starts the origins and writes the configuration. It returns the daemon's arguments.
func (h *hostileRun) prepare() []string {
	h.t.Helper()
	const settings = `cycle: 1h
listen: off
backup: {every: off}
worker: {min_free: 16MiB}
defaults:
  fr: 1
  fr_max: 2
  delay: 1m
  retry_max: 1h
  page_time: 2s
  wire_bytes: 1MiB
  body_bytes: 2MiB
`
	if err := os.WriteFile(filepath.Join(h.dir, "recrawld.yaml"), []byte(settings), 0o644); err != nil {
		h.t.Fatal(err)
	}
	// An hour of the daemon's clock is half a second.
	args := []string{"run", "--config", filepath.Join(h.dir, "recrawld.yaml"), "--data", h.data(), "--speed", "7200"}
	for _, f := range h.faults {
		answers := map[string]hostile.Answer{
			"/": hostile.Whole(http.StatusOK, map[string]string{"Content-Type": "text/html"}, goodBody+f.name),
		}
		if f.first != "" {
			answers["/robots.txt"] = hostile.Whole(http.StatusOK, map[string]string{"Content-Type": "text/plain"}, f.first)
		}
		o := h.listen("127.0.0.1:0", answers)
		h.origins = append(h.origins, o)
		args = append(args, o.URL("/"))
	}
	return args
}

func (h *hostileRun) listen(addr string, answers map[string]hostile.Answer) *hostile.Origin {
	h.t.Helper()
	o, err := hostile.Listen(addr, answers)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(o.Close)
	return o
}

func (h *hostileRun) data() string     { return filepath.Join(h.dir, "data") }
func (h *hostileRun) database() string { return filepath.Join(h.data(), "recrawld.db") }

// page is the page of the i-th fault.
func (h *hostileRun) page(s state, i int) pageRow { return s.pages[s.byURL[h.origins[i].URL("/")]] }

// faulty is the visit of the i-th fault that met it, or nil.
func (h *hostileRun) faulty(s state, i int) *visitRow {
	id := s.byURL[h.origins[i].URL("/")]
	for _, v := range s.visits[id] {
		if v.kind == models.Failed && len(h.faults[i].want) > 0 || v.version == 2 {
			return &v
		}
	}
	return nil
}

// untrusted starts a host whose certificate nobody has signed whom the daemon trusts, and returns its URL.
func (h *hostileRun) untrusted() string {
	h.t.Helper()
	now := clock.System{}.Now()
	authority, err := hostile.NewAuthority(now)
	if err != nil {
		h.t.Fatal(err)
	}
	settings, err := authority.Server(now.Add(time.Hour), "127.0.0.1")
	if err != nil {
		h.t.Fatal(err)
	}
	o, err := hostile.ListenTLS("127.0.0.1:0", settings, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(o.Close)
	return o.URL("/")
}

// checkUntrusted makes sure that nothing was taken from the host without a trusted certificate. What failed was the
// request for its robots.txt, so that is where the reason stands; without the rules no page was asked for.
func (h *hostileRun) checkUntrusted(s state, url string) {
	h.t.Helper()
	var class models.ErrorClass
	err := openDatabase(h.t, h.database()).QueryRowContext(h.t.Context(), "SELECT class FROM robots WHERE origin = ?",
		strings.TrimSuffix(url, "/")).Scan(&class)
	if err != nil {
		h.t.Fatal(err)
	}
	if p := s.pages[s.byURL[url]]; class != models.TLSCertificate || p.version != 0 || p.due == 0 {
		h.t.Errorf("untrusted certificate: robots.txt failed with %v, page %+v, want tls-certificate, no version and a next try", class, p)
	}
}

// until waits for something to hold for every fault and fails the test when it does not within a minute.
func (h *hostileRun) until(what string, d *daemon, holds func(s state, i int) bool) {
	h.t.Helper()
	var machine clock.System
	limit := machine.Now().Add(time.Minute)
	db := openDatabase(h.t, h.database())
	for {
		d.alive()
		s := readState(h.t, db)
		var missing []string
		for i, f := range h.faults {
			if !holds(s, i) {
				missing = append(missing, fmt.Sprintf("%s: %+v %s", f.name, h.page(s, i), h.lastVisit(s, i)))
			}
		}
		if len(missing) == 0 {
			return
		}
		if machine.Now().After(limit) {
			complain(h.t, what+", but not for", missing)
			h.t.Fatal(d.tail())
		}
		if err := machine.SleepUntil(h.t.Context(), machine.Now().Add(200*time.Millisecond)); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *hostileRun) lastVisit(s state, i int) string {
	list := s.visits[s.byURL[h.origins[i].URL("/")]]
	if len(list) == 0 {
		return "no visit"
	}
	v := list[len(list)-1]
	return fmt.Sprintf("last visit %v %v", v.kind, v.class)
}

// checkFaults looks at every page while its fault lasts.
func (h *hostileRun) checkFaults(s state) {
	h.t.Helper()
	for i, f := range h.faults {
		v := h.faulty(s, i)
		id := s.byURL[h.origins[i].URL("/")]
		if len(f.want) == 0 {
			if got := s.versions[id][2].digest; got != models.DigestOf([]byte(f.body)).String() {
				h.t.Errorf("%s: version 2 has digest %.12s, want that of the bytes as they came", f.name, got)
			}
			continue
		}
		if !slices.Contains(f.want, v.class) {
			h.t.Errorf("%s: the outcome is called %v, want one of %v", f.name, v.class, f.want)
		}
		p := h.page(s, i)
		if p.version != 1 || p.digest != models.DigestOf([]byte(goodBody+f.name)).String() || len(s.versions[id]) != 1 {
			h.t.Errorf("%s: the good copy is not what it was: %+v", f.name, p)
		}
		if p.due == 0 {
			h.t.Errorf("%s: there is no next try", f.name)
		}
		h.checkMirrored(f, h.origins[i].URL("/"))
	}
}
