package sink

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/smtptest"
)

var letter = Letter{ID: "team-log-1-5", Thread: "team-log-1", List: "team.recrawld", Date: noon, Subject: "recrawld: 2 pages changed on docs – ü",
	Text: "Grüße\n.\n" + strings.Repeat("long ", 300) + "\nend", HTML: "<p>Gr&uuml;&szlig;e</p>"}

var between = Envelope{From: "recrawld@example.net", To: []string{"team@example.net", "boss@example.net"}}

// postTo is a Post for a server of a name, which is one of the test.
func postTo(s *smtptest.Server, o config.MailServer, password string) *Post {
	return &Post{Envelope: between, Server: o, Password: func() (string, error) { return password, nil },
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.Address)
		}}
}

// readMail is a mail as a program for mails reads it: its header and its parts by their type.
func readMail(t *testing.T, data []byte) (mail.Header, map[string]string) {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v:\n%s", err, data)
	}
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("Content-Type %s, %v", kind, err)
	}
	parts := map[string]string{}
	for r := multipart.NewReader(m.Body, parameters["boundary"]); ; {
		part, err := r.NextRawPart()
		if err == io.EOF {
			return m.Header, parts
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil || part.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Fatalf("%v: %v", part.Header, err)
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		parts[kind] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}

func subjectOf(t *testing.T, h mail.Header) string {
	t.Helper()
	subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	return subject
}

// A letter comes as it was written, to all, over TLS whose certificate was looked at, from somebody who logged in.
func TestALetterComesAsItWasWritten(t *testing.T) {
	t.Parallel()
	secure, roots := smtptest.Certificate(t, "mail.example.net")
	for name, test := range map[string]struct {
		options smtptest.Options
		server  config.MailServer
		user    string
		tls     bool
	}{
		"STARTTLS": {smtptest.Options{TLS: secure, User: "me", Password: "hunter2"}, config.MailServer{Host: "mail.example.net", Port: 587, User: "me"}, "me", true},
		"TLS from the start": {smtptest.Options{TLS: secure, AtOnce: true, User: "me", Password: "hunter2"},
			config.MailServer{Host: "mail.example.net", Port: 465, User: "me", TLS: true}, "me", true},
		"this machine": {smtptest.Options{}, config.MailServer{Host: "localhost", Port: 25}, "", false},
		"this machine, logged in": {smtptest.Options{User: "me", Password: "hunter2"}, config.MailServer{Host: "localhost", Port: 25, User: "me"},
			"me", false},
	} {
		s := smtptest.Start(t, test.options)
		p := postTo(s, test.server, "hunter2")
		p.Roots = roots
		said, err := p.Try(t.Context(), letter)
		if err != nil || !strings.Contains(said, "queued as 4711") {
			t.Errorf("%s: %q, %v", name, said, err)
			continue
		}
		got := s.Taken()[0]
		if diff := cmp.Diff(smtptest.Taken{From: between.From, To: between.To, Data: got.Data, TLS: test.tls, User: test.user}, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		header, parts := readMail(t, got.Data)
		want := map[string]string{"From": "<recrawld@example.net>", "To": "<team@example.net>, <boss@example.net>",
			"Message-Id": "<team-log-1-5@example.net>", "References": "<team-log-1@example.net>", "In-Reply-To": "<team-log-1@example.net>",
			"List-Id": "<team.recrawld.example.net>", "Auto-Submitted": "auto-generated", "Date": noon.Format(time.RFC1123Z), "Mime-Version": "1.0"}
		for key, value := range want {
			if header.Get(key) != value {
				t.Errorf("%s: %s is %q, want %q", name, key, header.Get(key), value)
			}
		}
		if subject := subjectOf(t, header); subject != letter.Subject {
			t.Errorf("%s: subject %q", name, subject)
		}
		if diff := cmp.Diff(map[string]string{"text/plain": letter.Text, "text/html": letter.HTML}, parts); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		for _, line := range bytes.Split(got.Data, []byte("\r\n")) {
			if len(line) > 998 || bytes.ContainsAny(line, "\r\n") {
				t.Errorf("%s: a line of %d bytes", name, len(line))
			}
		}
	}
}

// What a server answers decides what becomes of a letter: it is taken, it is tried again, or it is refused for good.
func TestFault_121_WhatAMailServerAnswers(t *testing.T) {
	t.Parallel()
	secure, roots := smtptest.Certificate(t, "mail.example.net")
	other, _ := smtptest.Certificate(t, "other.example.net")
	said := func(stage, answer string) func(string, string, int) string {
		return func(s, asked string, _ int) string {
			if where, who, one := strings.Cut(stage, " "); s == where && (!one || strings.Contains(asked, who)) {
				return answer
			}
			return ""
		}
	}
	remote := config.MailServer{Host: "mail.example.net", Port: 587, User: "me"}
	for name, test := range map[string]struct {
		options  smtptest.Options
		password string
		want     string
		unwanted bool
		came     int // mails that were read
	}{
		"no TLS":              {smtptest.Options{User: "me", Password: "p"}, "p", "does not support STARTTLS", false, 0},
		"another's TLS":       {smtptest.Options{TLS: other, User: "me", Password: "p"}, "p", "certificate", false, 0},
		"a wrong password":    {smtptest.Options{TLS: secure, User: "me", Password: "p"}, "q", `535 "5.7.8`, true, 0},
		"nobody may log in":   {smtptest.Options{TLS: secure}, "p", "AUTH", false, 0},
		"busy":                {smtptest.Options{TLS: secure, User: "me", Password: "p", Answer: said("connect", "421 4.3.2 later")}, "p", "421", false, 0},
		"the sender":          {smtptest.Options{TLS: secure, User: "me", Password: "p", Answer: said("mail", "550 5.7.1 no")}, "p", `from recrawld@example.net: 550 "5.7.1`, true, 0},
		"greylisted":          {smtptest.Options{TLS: secure, User: "me", Password: "p", Answer: said("rcpt", "451 4.7.1 later")}, "p", "for team@example.net: 451", false, 0},
		"one of two":          {smtptest.Options{TLS: secure, User: "me", Password: "p", Answer: said("rcpt boss", "550 5.1.1 who?")}, "p", "for boss@example.net: 550", true, 0},
		"hangs up in DATA":    {smtptest.Options{TLS: secure, User: "me", Password: "p", Answer: said("data", smtptest.Hang)}, "p", "EOF", false, 0},
		"full":                {smtptest.Options{TLS: secure, User: "me", Password: "p", Answer: said("end", "452 4.2.2 full")}, "p", "452", false, 1},
		"spam":                {smtptest.Options{TLS: secure, User: "me", Password: "p", Answer: said("end", "554 5.7.1 spam")}, "p", "554", true, 1},
		"dies before it says": {smtptest.Options{TLS: secure, User: "me", Password: "p", Answer: said("end", smtptest.Hang)}, "p", "EOF", false, 1},
	} {
		s := smtptest.Start(t, test.options)
		p := postTo(s, remote, test.password)
		p.Roots = roots
		err := p.Send(t.Context(), letter)
		if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrUnwanted) != test.unwanted {
			t.Errorf("%s: %v, want %q, refused for good %v", name, err, test.want, test.unwanted)
		}
		if got := s.Taken(); len(got) != test.came {
			t.Errorf("%s: %d mails were read, want %d", name, len(got), test.came)
		}
	}
	p := postTo(smtptest.Start(t, smtptest.Options{}), config.MailServer{Host: "localhost", User: "me"}, "")
	p.Password = func() (string, error) { return "", errors.New("chmod 600 it") }
	if err := p.Send(t.Context(), letter); err == nil || !strings.Contains(err.Error(), "nothing is sent without the password: chmod 600 it") || errors.Is(err, ErrUnwanted) {
		t.Errorf("without the password: %v", err)
	}
}

// A server that takes its time is waited for, and one that says nothing is given up.
func TestFault_121_SlowMailServers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		takes time.Duration
		want  bool
	}{{4 * time.Minute, true}, {time.Hour, false}} {
		synctest.Test(t, func(t *testing.T) {
			began := clock.System{}.Now()
			s := smtptest.Idle(smtptest.Options{Answer: func(stage, _ string, _ int) string {
				if stage == "end" {
					_ = clock.System{}.SleepUntil(t.Context(), clock.System{}.Now().Add(test.takes))
				}
				return ""
			}})
			p := &Post{Envelope: between, Server: config.MailServer{Host: "localhost", Port: 25},
				Dial: func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go s.Serve(theirs)
					return ours, nil
				}}
			err := p.Send(t.Context(), letter)
			if (err == nil) != test.want || err != nil && (since(began) != mailTime || errors.Is(err, ErrUnwanted) || !strings.Contains(err.Error(), "within 5m")) {
				t.Errorf("a server that takes %v: %v after %v", test.takes, err, since(began))
			}
		})
	}
}

// Whoever stops does not wait for a server that says nothing, whatever it was to say.
func TestFault_121_AStopDoesNotWaitForAMailServer(t *testing.T) {
	t.Parallel()
	for _, silent := range []string{"connect", "login", "mail", "rcpt", "data", "end"} {
		synctest.Test(t, func(t *testing.T) {
			began, stopped := clock.System{}.Now(), make(chan struct{})
			ctx, stop := context.WithCancel(t.Context())
			defer close(stopped)
			defer stop()
			s := smtptest.Idle(smtptest.Options{User: "me", Password: "p", Answer: func(stage, _ string, _ int) string {
				if stage == silent {
					stop()
					<-stopped
				}
				return ""
			}})
			p := &Post{Envelope: between, Server: config.MailServer{Host: "localhost", Port: 25, User: "me"},
				Password: func() (string, error) { return "p", nil },
				Dial: func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go s.Serve(theirs)
					return ours, nil
				}}
			if err := p.Send(ctx, letter); err == nil || since(began) > 0 {
				t.Errorf("stopped while the server was silent at %s: %v after %v, want an error at once", silent, err, since(began))
			}
		})
	}
}

// sendmail is given the letter and its recipients, and its exit code says what became of it.
func TestSendmail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "sendmail")
	script := "#!/bin/sh\nprintf '%s ' \"$@\" > " + dir + "/arguments\ncat > " + dir + "/mail\ntest -e " + dir + "/code && { echo no such user >&2; exit $(cat " + dir + "/code); }\nexit 0\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p := &Post{Envelope: between, Program: program}
	if err := p.Send(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	arguments, _ := os.ReadFile(dir + "/arguments")
	if want := "-i -f recrawld@example.net -- team@example.net boss@example.net "; string(arguments) != want {
		t.Errorf("called with %q, want %q", arguments, want)
	}
	data, err := os.ReadFile(dir + "/mail")
	if err != nil || bytes.Contains(data, []byte("\r")) {
		t.Fatalf("%v:\n%q", err, data)
	}
	if _, parts := readMail(t, data); parts["text/plain"] != letter.Text {
		t.Errorf("it was given %q", parts)
	}
	for code, unwanted := range map[string]bool{"67": true, "75": false, "1": false} {
		if err := os.WriteFile(dir+"/code", []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.Send(t.Context(), letter); err == nil || errors.Is(err, ErrUnwanted) != unwanted || !strings.Contains(err.Error(), "no such user") {
			t.Errorf("exit code %s: %v, want refused for good %v", code, err, unwanted)
		}
	}
}

// Whatever a subject and a text say, the mail that comes of it has the recipients and the headers that it was given, and two parts.
func FuzzLetter(f *testing.F) {
	for _, text := range []string{"plain", "two\r\nBcc: x@y.example", "\r\n\r\nbody", "=?utf-8?q?x?=", "\xff\xfe\x00", strings.Repeat("ü", 500), ".\r\n", " \t", "a\u2028b\u0085c",
		"--boundary--", strings.Repeat("word ", 100)} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, subject, text string) {
		l := letter
		l.Subject, l.Text, l.HTML = subject, text, text
		data, err := l.message(between)
		if err != nil {
			t.Fatal(err)
		}
		header, parts := readMail(t, data)
		to, err := header.AddressList("To")
		if err != nil || len(to) != 2 || to[0].Address != between.To[0] || to[1].Address != between.To[1] {
			t.Fatalf("to %v, %v", to, err)
		}
		if got := subjectOf(t, header); got != oneLine(subject) {
			t.Fatalf("subject %q, want %q", got, oneLine(subject))
		}
		if len(header) != 11 || len(parts) != 2 {
			t.Fatalf("%d headers and %d parts: %v", len(header), len(parts), header)
		}
		if got := parts["text/plain"]; got != whole(text) {
			t.Fatalf("text %q, want %q", got, whole(text))
		}
	})
}
