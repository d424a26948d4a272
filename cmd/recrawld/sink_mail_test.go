package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/smtptest"
	"recrawld/models"
	"recrawld/report"
	"recrawld/sink"
)

// readMail is the header of a mail, with its subject as it is meant, and its text.
func readMail(t *testing.T, m smtptest.Taken) (mail.Header, string) {
	t.Helper()
	message, err := mail.ReadMessage(bytes.NewReader(m.Data))
	if err != nil {
		t.Fatal(err)
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := multipart.NewReader(message.Body, parameters["boundary"]).NextRawPart()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(part))
	if err != nil {
		t.Fatal(err)
	}
	return message.Header, strings.ReplaceAll(string(text), "\r\n", "\n")
}

// mailConfig has the daemon send mails by a server, in a rehearsal that is so fast that a day is over in some seconds.
func mailConfig(t *testing.T, server, further string) string {
	t.Helper()
	path, _ := configure(t, fmt.Sprintf("mail:\n  team: { to: [team@example.net, boss@example.net], from: recrawld@example.net, server: \"smtp://%s\"%s }\n",
		strings.Replace(server, "127.0.0.1", "localhost", 1), further))
	return path
}

// A daemon that is killed when the server has taken its mail and nobody knows that yet sends the same once more, under the same name, and
// what came since in the next.
func TestFault_122_AMailIsSentAcrossAKill(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	taken, killed := make(chan struct{}), make(chan struct{})
	s := smtptest.Start(t, smtptest.Options{Answer: func(stage, _ string, n int) string {
		if stage == "end" && n == 1 {
			close(taken)
			<-killed
			return smtptest.Hang
		}
		return ""
	}})
	path := mailConfig(t, s.Address, ", every: 10h")
	p := launch(t, nil, "run", "-c", path, "--speed", "7200", site.URL)
	<-taken
	p.signal(syscall.SIGKILL)
	p.ends()
	close(killed)

	p = launch(t, nil, "run", "-c", path, "--speed", "7200")
	mails := s.Wait(t, 2)
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, p.output())
	}
	first, text := readMail(t, mails[0])
	again, same := readMail(t, mails[1])
	if first.Get("Message-Id") != again.Get("Message-Id") || first.Get("Subject") != again.Get("Subject") || text != same {
		t.Errorf("sent was\n%v\n%s\nand then\n%v\n%s", first, text, again, same)
	}
	if !strings.Contains(first.Get("Subject"), fmt.Sprintf("recrawld: %d pages new on ", len(smallSite))) || strings.Join(mails[0].To, " ") != "team@example.net boss@example.net" {
		t.Errorf("subject %q to %v, want that %d pages are new", first.Get("Subject"), mails[0].To, len(smallSite))
	}
	for url := range smallSite {
		if !strings.Contains(text, site.URL+url+"\n") {
			t.Errorf("the mail does not tell of %s:\n%s", url, text)
		}
	}
}

// What a mail server refuses for good is said where people look, and a replay tries again, once the daemon has ended, too; sink test asks the
// server without waiting for a mail.
func TestAMailThatIsRefusedIsTold(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	var mended atomic.Bool
	refused := make(chan struct{}, 100)
	s := smtptest.Start(t, smtptest.Options{Answer: func(stage, asked string, _ int) string {
		if stage == "rcpt" && !mended.Load() && strings.Contains(asked, "boss") {
			refused <- struct{}{}
			return "550 5.1.1 no such user"
		}
		return ""
	}})
	path := mailConfig(t, s.Address, ", every: 10h")
	code, _, stderr := command(t, "sink", "test", "-c", path, "mail:team")
	if code != exitFailed || !strings.Contains(stderr, "does not take mail for boss@example.net: 550") {
		t.Errorf("sink test says %d %q", code, stderr)
	}
	<-refused
	p := launch(t, nil, "run", "-c", path, "--speed", "7200", site.URL)
	<-refused
	p.says("sink is parked")
	text := ""
	for !strings.Contains(text, "takes nothing") && t.Context().Err() == nil { // that is noted a moment after it is logged
		text = must(t, "sink", "list", "-c", path)
	}
	if !strings.Contains(text, "mail:team takes nothing, for ") || !strings.Contains(text, "it is parked, until \"recrawld sink replay mail:team\"") {
		t.Errorf("sink list says\n%s", text)
	}
	if text := must(t, "status", "-c", path); !strings.Contains(text, "mail:team") {
		t.Errorf("status says\n%s", text)
	}
	p.signal(syscall.SIGTERM)
	p.ends()
	mended.Store(true)
	if text := must(t, "sink", "replay", "-c", path, "mail:team"); !strings.Contains(text, "mail:team has nothing left to send that is due") {
		t.Errorf("sink replay says %q", text)
	}
	mails := s.Wait(t, 1)
	if header, _ := readMail(t, mails[0]); !strings.Contains(header.Get("Subject"), "pages new") {
		t.Errorf("sent was %v", header)
	}
	text = must(t, "sink", "list", "-c", path)
	if strings.Contains(text, "takes nothing") || !strings.Contains(text, "next in ") {
		t.Errorf("sink list says\n%s", text)
	}
	var states []sinkState
	if err := json.Unmarshal([]byte(must(t, "sink", "list", "-c", path, "--json")), &states); err != nil {
		t.Fatal(err)
	}
	if last := states[len(states)-1]; last.Name != "mail:team" || last.Next.IsZero() || last.Behind != 0 {
		t.Errorf("sink list --json has %+v", last)
	}

	if text := must(t, "sink", "test", "-c", path, "mail:team"); !strings.Contains(text, "sent to team@example.net, boss@example.net: the server says") || !strings.Contains(text, "queued as 4711") {
		t.Errorf("sink test says %q", text)
	}
	if got := s.Wait(t, 2); !strings.Contains(string(got[1].Data), "Subject: recrawld: a test of mail:team") {
		t.Errorf("the test mail is\n%s", got[1].Data)
	}
	must(t, "sink", "test", "-c", path, "--json", "mail:team")
	if code, _, stderr := command(t, "sink", "test", "-c", path, "mirror"); code != exitUsage || !strings.Contains(stderr, "neither a mail nor a chat") {
		t.Errorf("sink test mirror says %d %q", code, stderr)
	}
}

// A mail without its password is told of at the start, and one of a site that is not there.
func TestMailsThatCannotBeSentAreToldOf(t *testing.T) {
	t.Parallel()
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path, _ := configure(t, "mail:\n  team: { to: team@example.net, from: a@example.net, server: \"smtp://me@localhost:9\", password: \"${file:"+password+"}\", sites: [dosc] }\n")
	d := built(t, path)
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	if err := os.Remove(password); err != nil {
		t.Fatal(err)
	}
	d.checkMails()
	for _, want := range []string{"a mail has no password", "the mail names a site that is not there"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
}

// written is the mail of a period that has some events, nil where there is none, and the memo for the next one.
func (f *filler) written(b library, m config.Mail, p sink.Period, events []models.Event) (*sink.Letter, string) {
	f.t.Helper()
	return f.told(&digestWriter{name: m.Name, digest: &m.Digest, most: mailEntries, write: mailLetter}, b, p, events)
}

// told is what a writer makes of a period that has some events.
func (f *filler) told(w *digestWriter, b library, p sink.Period, events []models.Event) (*sink.Letter, string) {
	f.t.Helper()
	w.parts = sinkParts{store: f.store, clock: clock.NewVirtual(filledNow), library: func(context.Context) (library, error) { return b, nil }}
	letter, memo, err := w.compose(f.t.Context(), &p, func(yield func(models.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	f.must(err)
	return letter, memo
}

// since are the events of all pages since some time ago.
func (f *filler) since(ago time.Duration) (all []models.Event) {
	for bucket := range int16(models.Buckets) {
		events, err := f.store.Events(f.t.Context(), bucket, 0, 1000)
		f.must(err)
		all = append(all, slices.DeleteFunc(events, func(e models.Event) bool { return e.At.Time().Before(filledNow.Add(-ago)) })...)
	}
	return all
}

// TestTheMailOfALife: what changed of each page since the last mail, as one, by words; what narrows it; and a site that was removed, in a line.
func TestTheMailOfALife(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dsn string) {
		f, b := filling(t, dsn)
		f.lives()
		p := sink.Period{Told: filledNow.Add(-10 * day), End: filledNow}
		m := config.Mail{Name: "team", To: []string{"a@example.net"}, Digest: config.Digest{Kinds: config.DigestKinds()}}
		letter, _ := f.written(b, m, p, f.since(10*day))
		want := "1 page changed, 3 new on blog, docs,\nfrom Wed 11 Nov 12:00 to Sat 21 Nov 12:00 UTC.\n\nblog: 1 page new\n================\n\nnew, Mon 16 Nov 12:00\n" +
			"https://blog.example.net/logo.png\n    6 B of image/png without text that is read\n\ndocs: 1 page changed, 2 new\n===========================\n\n" +
			"changed, significance 0.80, 2 times, last Thu 19 Nov 12:00\nInstall]]>\nhttps://docs.example.org/install\n    2 lines changed in the content\n" +
			"    title: Install{+]]> +}\n    Get version [-1.0-] {+1.2 &lt;+}.\n\nnew, Wed 18 Nov 12:00\nhttps://docs.example.org/long\n    word word"
		if !strings.HasPrefix(letter.Text, want) {
			t.Errorf("the mail (-want +got):\n%s", cmp.Diff(want, letter.Text))
		}
		if letter.Subject != "recrawld: 1 page changed, 3 new on blog, docs" || !strings.Contains(letter.Text, "asks not\n    to be archived") {
			t.Errorf("the mail is %q:\n%s", letter.Subject, letter.Text)
		}
		again, _ := f.written(b, m, p, f.since(10*day))
		if diff := cmp.Diff(letter, again); diff != "" {
			t.Errorf("it is another one the second time:\n%s", diff)
		}
		unseen := f.since(10 * day)
		for i := range unseen {
			unseen[i].Requisite = true
		}
		for name, test := range map[string]struct {
			set    func(*config.Mail)
			events []models.Event
			want   string
		}{
			"a site":                      {func(m *config.Mail) { m.Sites = []string{"blog"} }, f.since(10 * day), "recrawld: 1 page new on blog"},
			"a kind":                      {func(m *config.Mail) { m.Kinds = []string{"changed"} }, f.since(10 * day), "recrawld: 1 page changed on docs"},
			"what weighs":                 {func(m *config.Mail) { m.Kinds, m.Weight = []string{"changed"}, 0.5 }, f.since(5 * day), ""},
			"nothing":                     {func(*config.Mail) {}, nil, ""},
			"what pages need to be shown": {func(*config.Mail) {}, unseen, ""},
		} {
			n := m
			test.set(&n)
			letter, _ := f.written(b, n, p, test.events)
			if got := ""; letter != nil || test.want != "" {
				if letter != nil {
					got = letter.Subject
				}
				if got != test.want {
					t.Errorf("%s: subject %q, want %q", name, got, test.want)
				}
			}
		}
		p.Missed = true
		if letter, _ := f.written(b, m, p, nil); letter == nil || !strings.Contains(letter.Text, "older than history.keep") {
			t.Errorf("of events that are gone it says %+v", letter)
		}
		f.must(f.store.RemoveSite(t.Context(), 2, filledNow.Add(-time.Hour)))
		letter, _ = f.written(f.loaded(b), m, sink.Period{Told: filledNow.Add(-day), End: filledNow}, f.since(2*time.Hour))
		if want := "recrawld: blog removed"; letter == nil || letter.Subject != want || !strings.Contains(letter.Text, "The site blog was removed Sat 21 Nov 11:00, with 1 page.") {
			t.Errorf("of a removed site it says %+v, want %q", letter, want)
		}
	})
}

// What is unusual is told when it begins and when it is over, once each, to those who are told of the site.
func TestAMailTellsWhatIsUnusualOnce(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	note := func(sites ...report.Unusual) {
		body, err := json.Marshal(unusual{models.At(filledNow), sites})
		f.must(err)
		f.must(f.store.Merge(t.Context(), noteUnusual, func([]byte) []byte { return body }))
	}
	m := config.Mail{Name: "team", To: []string{"a@example.net"}, Digest: config.Digest{Kinds: config.DigestKinds(), Sites: []string{"docs"}}}
	memo := ""
	for i, step := range []struct {
		sites []report.Unusual
		want  string
	}{
		{[]report.Unusual{{Site: 2, Kind: report.Failing, Words: "most fail"}}, ""},
		{[]report.Unusual{{Site: 1, Kind: report.Failing, Words: "most fail"}}, "recrawld: docs is unusual: most fail"},
		{[]report.Unusual{{Site: 1, Kind: report.Failing, Words: "all fail"}}, ""},
		{nil, "recrawld: docs is as usual again (failing)"},
		{nil, ""},
	} {
		note(step.sites...)
		var letter *sink.Letter
		letter, memo = f.written(b, m, sink.Period{Told: filledNow.Add(-day), End: filledNow, Memo: memo}, nil)
		got := ""
		if letter != nil {
			got = letter.Subject
		}
		if got != step.want {
			t.Errorf("mail %d is %q, want %q", i, got, step.want)
		}
	}
}

// A mail that no daemon has had in its configuration yet is not behind: what was before it is not told.
func TestAMailThatNeverRanIsNotBehind(t *testing.T) {
	t.Parallel()
	f, _ := filling(t, liteFile(t))
	f.lives()
	for name, want := range map[string]bool{"webhook:team": true, "mail:team": false} {
		behind, next, err := behindBy(t.Context(), f.store, name, filledNow)
		if err != nil || behind > 0 != want || !next.IsZero() {
			t.Errorf("%s is %d parts behind, next at %v, %v; want it behind %v", name, behind, next, err, want)
		}
	}
}
