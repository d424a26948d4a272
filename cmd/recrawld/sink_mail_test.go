package main

import (
	"bytes"
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
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"recrawld/internal/smtptest"
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
	if text := must(t, "sink", "list", "-c", path); !strings.Contains(text, "mail:team takes nothing, for ") || !strings.Contains(text, "it is parked, until \"recrawld sink replay mail:team\"") {
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
	text := must(t, "sink", "list", "-c", path)
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
	if code, _, stderr := command(t, "sink", "test", "-c", path, "mirror"); code != exitUsage || !strings.Contains(stderr, "is no mail") {
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
	for _, want := range []string{"a mail has no password", "a mail names a site that is not there"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
}
