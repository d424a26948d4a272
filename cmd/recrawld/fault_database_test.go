package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/internal/pgtest"
	"recrawld/models"
)

// atWork is a daemon at work: its three pages are other ones at each visit, one an hour.
type atWork struct {
	*process
	path, data string // of its configuration and its data
	store      string // as --store takes it
	speed      string // of its clock
	url        string // of the site
	listen     string // of /healthz
	asked      *atomic.Int64
}

// workOn starts a daemon on a store, as --store takes it.
func workOn(t *testing.T, store string) *atWork {
	t.Helper()
	return workAt(t, store, "36000")
}

// workAt starts one for whose clock an hour lasts less than a second.
func workAt(t *testing.T, store, speed string) *atWork {
	t.Helper()
	asked := new(atomic.Int64)
	site := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(out, r)
			return
		}
		out.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(out, `<title>%s</title><p>This page has been asked for %d times by now.<p><a href=/a>a</a> <a href=/b>b</a>`,
			r.URL.Path, asked.Add(1))
	}))
	t.Cleanup(site.Close)
	path, data := configure(t, "")
	writeFast(t, path, data)
	w := &atWork{path: path, data: data, store: store, speed: speed, url: site.URL, asked: asked}
	return w.again(t)
}

// writeFast writes the configuration of a daemon that asks for each page every hour.
func writeFast(t *testing.T, path, data string) {
	t.Helper()
	text := "data: " + data + "\nlisten: 127.0.0.1:0\ncycle: 1h\nbackup: {every: off}\nworker: {lease: 8s, grace: 3s}\n" +
		"defaults: {delay: 0s, page_time: 3s, policy: fixed, fr: 1, fr_max: 1, vary: 0%, parents: off, hint_max: off}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// again starts a daemon where this one ended.
func (w *atWork) again(t *testing.T) *atWork {
	t.Helper()
	next := *w
	next.process = launch(t, nil, "run", "-c", w.path, "--store", w.store, "--speed", w.speed, w.url)
	next.says("msg=begins")
	_, after, _ := strings.Cut(next.output(), "listen=")
	next.listen = strings.Fields(after)[0]
	next.visits(10)
	return &next
}

// visits waits for so many more requests.
func (w *atWork) visits(n int64) {
	w.t.Helper()
	from := w.asked.Load()
	w.until(fmt.Sprintf("asks for %d pages", n), func() bool { return w.asked.Load() >= from+n })
}

// until waits for something that the daemon does.
func (w *atWork) until(what string, done func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	var machine clock.System
	for !done() {
		select {
		case <-w.exited:
			w.t.Fatalf("ended and not %s:\n%s", what, w.output())
		default:
		}
		if err := machine.SleepUntil(ctx, machine.Now().Add(20*time.Millisecond)); err != nil {
			w.t.Fatalf("not %s:\n%s", what, w.output())
		}
	}
}

// healthy asks the daemon how it is.
func (w *atWork) healthy() bool {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.listen+"/healthz", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := new(http.Client).Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// endsWhole stops the daemon and checks what is in its database and its archive.
func (w *atWork) endsWhole(dsn string) {
	w.t.Helper()
	w.signal(syscall.SIGTERM)
	if code := w.ends(); code != exitDone {
		w.t.Errorf("exit code %d:\n%s", code, w.output())
	}
	store, err := models.Open(w.t.Context(), dsn, models.Options{ReadOnly: true})
	if err != nil {
		w.t.Fatal(err)
	}
	defer store.Close()
	dump, err := store.Dump(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	reader, err := archive.OpenReader(filepath.Join(w.data, "archive"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer reader.Close()
	versions := make(map[int64]int32) // by page
	for _, v := range dump.Versions {
		versions[v.PageID]++
		if answer, err := reader.Read(v.Record); err != nil || answer.Digest != v.Digest {
			w.t.Errorf("version %d of page %d is not in the archive: %v", v.Number, v.PageID, err)
		}
	}
	behind, err := store.News(w.t.Context(), "mirror")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range dump.Pages {
		if versions[p.ID] != p.Version || p.Failures > 0 || p.DueAt == 0 {
			w.t.Errorf("%s: %d versions, its row says %d, %d failures, due %v", p.URL, versions[p.ID], p.Version, p.Failures, p.DueAt)
		}
		if len(behind) == 0 { // its lease may still be another's, of before; the next start delivers then
			w.mirrored(p)
		}
	}
	if len(dump.Pages) != 3 {
		w.t.Errorf("%d pages, want 3", len(dump.Pages))
	}
}

// mirrored checks that the mirror has the newest version of a page.
func (w *atWork) mirrored(p models.Page) {
	w.t.Helper()
	name := map[string]string{"/": "index.html", "/a": "a#.html", "/b": "b#.html"}[strings.TrimPrefix(p.URL, w.url)]
	host := strings.NewReplacer("http://", "", ":", "_").Replace(w.url)
	body, err := os.ReadFile(filepath.Join(w.data, "mirror", host, name))
	if err != nil || models.DigestOf(body) != p.Digest {
		w.t.Errorf("the mirror's copy of %s is not version %d: %v", p.URL, p.Version, err)
	}
}

// TestFault_088_PostgresGoesAndComesBack under load, in every way: what was finished is kept until it can be written, claiming
// waits, and nothing is lost or written twice.
func TestFault_088_PostgresGoesAndComesBack(t *testing.T) {
	t.Parallel()
	server := pgtest.StartAlone(t)
	w := workOn(t, server.DSN())
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		server.End(by)
		w.until("ill without its database", func() bool { return !w.healthy() })
		server.Again()
		w.until("well again", w.healthy)
		w.visits(5)
	}
	w.endsWhole(server.DSN())
}

// TestFault_090_FailOverToAStandby: the server dies, and a standby that was behind it takes its place, first for reading alone.
// What it never had is found again, and nothing refers to what is not there.
func TestFault_090_FailOverToAStandby(t *testing.T) {
	t.Parallel()
	first := pgtest.StartAlone(t)
	second := first.Standby()
	w := workOn(t, first.DSN(second))
	second.Run("ALTER SYSTEM SET primary_conninfo = ''") // from here on it does not hear of what is committed
	second.Run("SELECT pg_reload_conf()")
	w.visits(5)
	first.End(syscall.SIGQUIT)
	w.until("ill without a database that takes anything", func() bool { return !w.healthy() })
	second.Run("SELECT pg_promote()")
	w.until("well again", w.healthy)
	w.visits(5)
	w.endsWhole(second.DSN())
}

// TestFault_090_AServerThatIsReadOnlyFromNowOn keeps its connections open while another one takes its place.
func TestFault_090_AServerThatIsReadOnlyFromNowOn(t *testing.T) {
	t.Parallel()
	first := pgtest.StartAlone(t)
	second := first.Standby()
	w := workOn(t, first.DSN(second))
	first.Run("ALTER SYSTEM SET default_transaction_read_only = on")
	first.Run("SELECT pg_reload_conf()")
	w.says("read-only transaction")
	second.Run("SELECT pg_promote()")
	w.visits(5)
	w.endsWhole(second.DSN())
}

// TestFault_091_NoConnectionIsFree: others take all connections of the server. The daemon says that it is ill, waits, and goes on
// once there are some.
func TestFault_091_NoConnectionIsFree(t *testing.T) {
	t.Parallel()
	server := pgtest.StartAlone(t, "max_connections=16", "superuser_reserved_connections=0")
	w := workOn(t, server.DSN())
	db, err := sql.Open("pgx", server.DSN()+"&application_name=others")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var held []*sql.Conn
	w.until("without a connection", func() bool {
		for {
			conn, err := db.Conn(t.Context())
			if err == nil {
				held = append(held, conn)
			}
			if len(held) == 0 {
				return false
			}
			if _, err := held[0].ExecContext(t.Context(), // also where the daemon was quicker to connect again
				"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'others'"); err != nil {
				t.Fatal(err)
			}
			if err != nil {
				return len(held) == 16
			}
		}
	})
	w.until("ill without a connection", func() bool { return !w.healthy() })
	w.says("too many clients")
	for _, conn := range held {
		conn.Close()
	}
	db.Close()
	w.until("well again", w.healthy)
	w.visits(5)
	w.endsWhole(server.DSN())
}

// TestFault_091_StatementsTimeOut: an administrator's statement_timeout is too short for what is written. Nothing is until it is
// longer, and then all that waits.
func TestFault_091_StatementsTimeOut(t *testing.T) {
	t.Parallel()
	server := pgtest.StartAlone(t)
	w := workOn(t, server.DSN())
	server.Run("CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
		"IF current_setting('statement_timeout') <> '0' THEN PERFORM pg_sleep(5); END IF; RETURN NEW; END $$; " +
		"CREATE TRIGGER wait BEFORE INSERT ON visits FOR EACH ROW EXECUTE FUNCTION wait()")
	server.Run("ALTER SYSTEM SET statement_timeout = '100ms'")
	server.Run("SELECT pg_reload_conf()")
	w.says("statement timeout")
	server.Run("ALTER SYSTEM RESET statement_timeout")
	server.Run("SELECT pg_reload_conf()")
	w.visits(5)
	w.endsWhole(server.DSN())
}
