package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/report"
	"recrawld/web"
)

// served is a server of a library on loopback.
func served(t *testing.T, of func() library) (base string) {
	t.Helper()
	return serves(t, newShelf(of))
}

func serves(t *testing.T, library web.Library) (base string) {
	t.Helper()
	return serveAll(t, web.Options{Library: library}) + "/v1/"
}

// webTestToken opens the servers of the tests.
const webTestToken = "a-token-of-the-tests"

func serveAll(t *testing.T, o web.Options) (base string) {
	t.Helper()
	o.Listen, o.Metrics, o.Clock, o.Log, o.Token = "127.0.0.1:0", prometheus.NewRegistry(), clock.System{}, slog.New(slog.DiscardHandler), webTestToken
	server, err := web.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + server.Addr().String()
}

// asks is the answer to a question.
func asks(t *testing.T, question string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, question, nil)
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+webTestToken)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, string(text)
}

// What the server answers is what the command prints.
func TestTheServerAnswersAsTheCommandsDo(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	var g globals
	g.connect(strings.NewReader(""), io.Discard, io.Discard)
	g.Data = dir
	l, err := g.openLook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	base := served(t, l.library)
	page := func(raw string) string { return "pages?url=" + url.QueryEscape(raw) }
	for question, line := range map[string]string{
		"changes?after=start&limit=5":                           "changes --json --after start --limit 5",
		"changes?after=all&limit=100&wait=5s":                   "changes --json --after all --limit 100",
		"changes?after=start&kind=changed,gone&site=docs":       "changes --json --after start --kind changed,gone --site docs --limit 1000",
		"changes?after=start&min_significance=0.5&kind=changed": "changes --json --after start --min-significance 0.5 --kind changed --limit 1000",
		page("https://docs.example.org/install"):                "show --json --text https://docs.example.org/install",
		page("docs.example.org/prices-copy"):                    "show --json --text docs.example.org/prices-copy",
		page("https://docs.example.org/old") + "&version=-1":    "show --json --text docs.example.org/old --version=-1",
		page("https://docs.example.org/install") + "&version=2": "show --json --text docs.example.org/install --version 2",
		page("https://docs.example.org/logo.png"):               "show --json --text docs.example.org/logo.png",
	} {
		want, complaint, code := desk(t, dir, strings.Fields(line)...)
		if status, body := asks(t, base+question); status != http.StatusOK || body != want || code != exitDone {
			t.Errorf("%s = %d %s\n%s: exit code %d, %s\n%s", question, status, body, line, code, complaint, want)
		}
	}
	for question, want := range map[string]struct {
		status int
		says   string
	}{
		"changes?after=tomorrow":                                {400, "there is now, start, all"},
		"changes?after=now&site=nobody":                         {400, "there is docs, blog"},
		"changes?after=now&kind=unheard":                        {400, "there is new, changed"},
		page("https://docs.example.org/nowhere"):                {404, "not found"},
		page("https://docs.example.org/old"):                    {404, "is gone; its last copy is version 1"},
		page("https://docs.example.org/private/x"):              {404, "is excluded, and there is no copy of it"},
		page("https://docs.example.org/fresh"):                  {404, "there is no copy of it"},
		page("https://docs.example.org/install") + "&version=9": {404, "the newest is 4"},
		page("ftp://docs.example.org/"):                         {400, "scheme is not http or https"},
	} {
		if status, body := asks(t, base+question); status != want.status || !strings.Contains(body, want.says) {
			t.Errorf("%s = %d %s, want %d and %q", question, status, body, want.status, want.says)
		}
	}
}

func TestACursorThatIsLostIsGone(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	f.appears("a")
	at, err := f.store.Newest(t.Context())
	f.must(err)
	f.must(f.store.NoteRestored(t.Context(), filledNow))
	status, body := asks(t, served(t, func() library { return b })+"changes?wait=5s&after="+at.String())
	if status != http.StatusGone || !strings.Contains(body, `begin anew after "all"`) {
		t.Errorf("answer %d %s, want %d and the way out", status, body, http.StatusGone)
	}
}

// What is wrong with the database is not the asker's fault.
func TestADatabaseThatDoesNotAnswerIsOurs(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	base := served(t, func() library { return b })
	f.must(f.store.Close())
	for _, question := range []string{"changes?after=now", "changes?after=all&wait=5s", "pages?url=https://docs.example.org/"} {
		if status, body := asks(t, base+question); status != http.StatusInternalServerError {
			t.Errorf("%s = %d %s, want %d", question, status, body, http.StatusInternalServerError)
		}
	}
}

func TestAWaitingQuestionIsAnsweredByWhatIsCommitted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dsn string) {
		f, b := filling(t, dsn)
		looked := make(chan struct{}, 100)
		base := served(t, func() library { looked <- struct{}{}; return b })
		type answer struct {
			status int
			body   string
		}
		come := make(chan answer, 1)
		go func() {
			status, body := asks(t, base+"changes?after=now&wait=60s")
			come <- answer{status, body}
		}()
		<-looked
		<-looked // the second look is after the cursor of the first
		f.appears("late")
		if got := <-come; got.status != http.StatusOK || !strings.Contains(got.body, "https://docs.example.org/late") {
			t.Errorf("answer %d %s, want the page that appeared", got.status, got.body)
		}
	})
}

// onceThrough is a library that ends whoever reads on where nothing is left.
type onceThrough struct{ shelf }

// Changes implements web.Library.
func (o onceThrough) Changes(ctx context.Context, q web.ChangesQuery) (report.Document, error) {
	d, err := o.shelf.Changes(ctx, q)
	if err == nil && len(d.Rows) == 0 {
		err = web.Refusal{Status: http.StatusGone, Err: errors.New("that was all")}
	}
	return d, err
}

// shownLoop is the loop of docs/feeding.md for a server, four changes at a time.
func shownLoop(t *testing.T, base string) string {
	t.Helper()
	for _, tool := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	feeding, err := os.ReadFile("../../docs/feeding.md")
	if err != nil {
		t.Fatal(err)
	}
	_, loop, found := strings.Cut(string(feeding), "```sh\n")
	loop, _, closed := strings.Cut(loop, "```")
	if !found || !closed || strings.Count(loop, "\n") > 12 {
		t.Fatalf("docs/feeding.md shows no loop of at most 12 lines:\n%s", loop)
	}
	return strings.NewReplacer("http://127.0.0.1:8686/v1", strings.TrimSuffix(base, "/"), "wait=30s", "wait=0s&limit=4",
		"$(cat recrawld-data/web.token)", webTestToken).Replace(loop)
}

// loops runs the loop after a cursor until nothing is left, and returns what it did and the cursor that it kept.
func loops(t *testing.T, l *look, after string) (did, cursor string) {
	t.Helper()
	loop := shownLoop(t, serves(t, onceThrough{newShelf(l.library)}))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `upsert() { echo "upsert $1 $(jq -r .version $2)"; }; delete() { echo "delete $1"; }`+"\n"+loop)
	cmd.Dir = t.TempDir()
	file := filepath.Join(cmd.Dir, "cursor")
	if err := os.WriteFile(file, []byte(after), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 22 {
		t.Fatalf("%v, want the exit code of curl for a status that is an error, 22: %s", err, out)
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), strings.TrimSpace(string(kept))
}

// filledLook is a look at filledData.
func filledLook(t *testing.T) *look {
	t.Helper()
	var g globals
	g.connect(strings.NewReader(""), io.Discard, io.Discard)
	g.Data = filledData(t)
	l, err := g.openLook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close() })
	return l
}

// The loop of docs/feeding.md keeps an index.
func TestTheLoopThatIsShown(t *testing.T) {
	t.Parallel()
	l := filledLook(t)
	did, cursor := loops(t, l, "")
	for _, want := range []string{"upsert https://docs.example.org/install 4\n", "upsert https://docs.example.org/slow 1\n",
		"delete https://docs.example.org/old\n", "delete https://docs.example.org/private/x\n", "upsert https://blog.example.net/ 1\n"} {
		if !strings.Contains(did, want) {
			t.Errorf("the loop did\n%swant %q", did, want)
		}
	}
	if newest, err := l.store.Newest(t.Context()); err != nil || newest.String() != cursor {
		t.Errorf("the cursor is %s, want that behind all, %v", cursor, err)
	}
}

// A page that was gone, is back with other bytes and says what it said is refreshed, and nothing else is told of it
// (scheduler.TestStatesAreAnnouncedOnce); the same where it has come to ask for noindex.
func TestTheLoopThatIsShownTakesWhatIsRefreshed(t *testing.T) {
	t.Parallel()
	l := filledLook(t)
	at, err := l.store.Oldest(t.Context())
	for err == nil {
		events, next, failed := l.store.Feed(t.Context(), at, models.ChangesQuery{Limit: 1})
		if err = failed; err == nil && len(events) == 0 {
			t.Fatal("nothing is refreshed")
		}
		if err == nil && events[0].Kind == models.EventRefreshed {
			did, _ := loops(t, l, at.String())
			if want := "upsert " + events[0].URL + " " + strconv.Itoa(int(events[0].Version)) + "\n"; !strings.Contains(did, want) {
				t.Errorf("the loop did\n%swant %q", did, want)
			}
			return
		}
		at = next
	}
	t.Fatal(err)
}

var listens = regexp.MustCompile(`"listen":"(http://[^"]*)"`)

// TestAVisitThatIsAskedForOverHTTP: a page whose turn is days away is visited when somebody who has the token asks for it; of a page that
// is not known it is said so.
func TestAVisitThatIsAskedForOverHTTP(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	config, data := configure(t, "")
	p := launch(t, nil, "run", "-c", config, "--listen", "127.0.0.1:0", "--log", "json", site.URL)
	p.tells("READY=1")
	p.says(`"listen":"http`)
	api := listens.FindStringSubmatch(p.output())[1] + "/v1/"
	stored, err := os.ReadFile(filepath.Join(data, "web.token"))
	if err != nil {
		t.Fatal(err)
	}
	asks := func(method, question string) (body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, api+question, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(stored)))
		answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s %s = %d %s, %v", method, question, answer.StatusCode, text, err)
		}
		return string(text)
	}
	read := func(body string, into any) {
		t.Helper()
		if err := json.Unmarshal([]byte(body), into); err != nil {
			t.Fatal(err)
		}
	}
	for after := "start"; ; { // a visit that is under way would be the one that is asked for
		body := asks(http.MethodGet, "changes?kind=new&wait=1m&after="+after)
		if strings.Contains(body, site.URL+"/a.html") {
			break
		}
		var d struct{ Cursor string }
		read(body, &d)
		after = d.Cursor
	}
	site.isAsked(t, "/a.html")
	asked := url.Values{"url": {site.URL + "/a.html", site.URL + "/unheard", "ftp://x/"}}
	var d struct {
		Rows []struct{ Asked, Outcome string }
	}
	read(asks(http.MethodPost, "visits?"+asked.Encode()), &d)
	for i, want := range []string{"next", "unknown", "wrong"} {
		if len(d.Rows) != 3 || d.Rows[i].Asked != asked["url"][i] || d.Rows[i].Outcome != want {
			t.Errorf("%+v, want %s of %s", d.Rows, want, asked["url"][i])
		}
	}
	site.isAsked(t, "/a.html")
	p.signal(syscall.SIGTERM)
	p.ends()
}
