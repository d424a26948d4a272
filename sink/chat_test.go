package sink

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/digest"
	"recrawld/models"
)

var update = flag.Bool("update", false, "write the golden files")

// chatTo is a chat at an address.
func chatTo(form, address, token string) *Chat {
	fixed := func(text string) func() (string, error) { return func() (string, error) { return text, nil } }
	return NewChat(ChatOptions{Form: FormOf(form), Address: fixed(address), Token: fixed(token), To: "!abc/d:example.net", Dial: new(net.Dialer).DialContext, RetryAfter: retryAfter})
}

// hostile is what pages may say to whoever reads it in a chat.
const hostile = "@channel @channel_ @**all** @bob [y]: https://evil.example/ <!here> <@U1> [free](https://evil.example/) ![x](https://evil.example/p.png) *a* _b_ `c` & </b> || @All's"

// A message says in each form what it is to say, and what pages say stays text.
func TestChatForms(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, name := range config.ChatForms() {
		asked := make(chan string, 1)
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			text := fmt.Sprintf("%s %s\n", r.Method, r.RequestURI)
			for _, key := range []string{"Content-Type", "Authorization", "X-Gotify-Key", "Title", "Click", "User-Agent"} {
				if value := r.Header.Get(key); value != "" {
					text += key + ": " + value + "\n"
				}
			}
			var fields any
			if json.Unmarshal(body, &fields) == nil {
				shown, _ := json.MarshalIndent(fields, "", "  ")
				body = []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(shown)))
			}
			asked <- text + "\n" + string(body)
		}))
		form := FormOf(name)
		write := func(w digest.Wording) string {
			return w.Text("changed: ") + w.Link("Tü|<b>@here [x](y)", "https://docs.example.org/a?b=1&c=|>") + "\n" + w.Link("", "https://docs.example.org/b") + "\n" + w.Text(hostile)
		}
		l := Letter{ID: "phone-1-7", Subject: "recrawld: 2 pages changed on <dö&cs> @all", Text: write(form.Text), Link: "https://docs.example.org/ä"}
		if form.HTML != nil {
			l.HTML = write(*form.HTML)
		}
		c := chatTo(name, s.URL+"/T0/x", "tk_7")
		if err := c.Send(t.Context(), l); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		c.client.CloseIdleConnections()
		s.Close()
		fmt.Fprintf(&b, "== %s\n%s\n\n", name, <-asked)
	}
	const path = "testdata/chats.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What a chat answers decides what becomes of a message, and nothing of what it answers shows what is secret.
func TestFault_121_WhatAChatAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status             int
		unwanted, refused  bool
		wait               time.Duration
		body, header, want string
	}{
		{status: 204},
		{status: 400, unwanted: true, body: `{"error":"chat not found"}`, want: "it is refused for good: the chat answers 400 Bad Request: {\"error\":\"chat not found\"}"},
		{status: 401, unwanted: true, refused: true, want: "it is refused for good: the chat refuses the token or the url, and is asked again once that is another one: the chat answers 401"},
		{status: 404, body: "Cannot POST /bottk_secret/sendMessage\x1b[2J", want: "404 Not Found: Cannot POST *** [2J"},
		{status: 410, unwanted: true, refused: true, want: "410 Gone"},
		{status: 302, unwanted: true, want: "redirects are not followed"},
		{status: 429, wait: 90 * time.Second, header: "90", want: "the chat answers 429"},
		{status: 500, want: "the chat answers 500"},
		{status: 503, wait: 24 * time.Hour, header: "9999999", want: "503"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if test.header != "" {
				w.Header().Set("Retry-After", test.header)
			}
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		}))
		c := chatTo(config.ChatTelegram, s.URL, "tk_secret")
		err := c.Send(t.Context(), letter)
		c.client.CloseIdleConnections()
		s.Close()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrUnwanted) != test.unwanted {
			t.Errorf("%d: %v, want %q, for good %v", test.status, err, test.want, test.unwanted)
		}
		if _, refused := errors.AsType[*secretRefused](err); refused != test.refused {
			t.Errorf("%d: %v, want that the secret is refused: %v", test.status, err, test.refused)
		}
		wait := time.Duration(0)
		if asked, ok := errors.AsType[*askedToWait](err); ok {
			wait = asked.wait.Round(time.Second)
		}
		if wait != test.wait {
			t.Errorf("%d: it is to be left alone for %v, want %v", test.status, wait, test.wait)
		}
		if err != nil && strings.Contains(err.Error(), "tk_") {
			t.Errorf("%d: the token is shown: %v", test.status, err)
		}
		if err := c.Send(t.Context(), letter); err == nil || strings.Contains(err.Error(), "tk_") || errors.Is(err, ErrUnwanted) {
			t.Errorf("with nobody there: %v, want an error that does not show the token", err)
		}
	}
}

// A chat that asks for time is left alone for so long, and one that refused its token is asked again when there is another one; nothing that
// happened meanwhile is lost.
func TestFault_121_AChatIsAskedAgain(t *testing.T) {
	t.Parallel()
	token, status, got := "old", http.StatusTooManyRequests, []string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case status != http.StatusOK:
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(status)
		case r.Header.Get("Authorization") != "Bearer new":
			w.WriteHeader(http.StatusForbidden)
		default:
			body, _ := io.ReadAll(r.Body)
			got = append(got, r.Header.Get("Title")+": "+string(body))
		}
	}))
	defer s.Close()
	log, c := newMemory(), clock.NewVirtual(noon)
	chat := chatTo(config.ChatNtfy, s.URL, "")
	chat.options.Token = func() (string, error) { return token, nil }
	defer chat.client.CloseIdleConnections()
	m := mailTo(nil, c)
	m.options.Send, m.options.Secret = chat.Send, chat.Secret
	d := digestsTo(log, m, c)
	drained(t, d)
	log.add(1, models.Event{})
	pass(t, c, time.Hour)
	once := func() *Later {
		t.Helper()
		_, err := d.Once(t.Context())
		later, _ := errors.AsType[*Later](err)
		return later
	}
	if later := once(); later == nil || later.parked() || later.At.Sub(c.Now()).Round(time.Second) != 10*time.Minute {
		t.Fatalf("of a chat that asks for ten minutes: %+v", later)
	}
	status = http.StatusOK
	log.add(2, models.Event{})
	pass(t, c, 11*time.Minute)
	if later := once(); later == nil || !later.parked() || m.Mended() {
		t.Fatalf("of a chat that refuses the token: %+v", later)
	}
	token = "new"
	if !m.Mended() {
		t.Fatal("with another token it is not asked again")
	}
	drained(t, d)
	pass(t, c, time.Hour)
	drained(t, d)
	if diff := cmp.Diff([]string{"1 events: " + letter.Text, "1 events: " + letter.Text}, got); diff != "" {
		t.Errorf("-want +told:\n%s", diff)
	}
}

// Some servers repeat where they were asked, in whatever form, and some take it apart. None of what is secret in that is shown.
func TestFault_121_AChatThatRepeatsASecret(t *testing.T) {
	t.Parallel()
	const path, key, token = "/hooks/T0aaaaaaaaaaaa/hunter2bbbbbbbbb", "hunter2 cccccccc/", "12345:hunter2%zzzzzzzz"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, "%s\n%s\n%s\n%s", r.RequestURI, strings.ReplaceAll(r.URL.Path, "/", `\/`), r.URL.Query().Get("api_key"), strings.TrimPrefix(token, "12345:"))
	}))
	defer s.Close()
	for _, form := range []string{config.ChatSlack, config.ChatTelegram} {
		address := s.URL + path
		if form == config.ChatSlack {
			address += "?stream=x&api_key=" + url.QueryEscape(key)
		}
		err := chatTo(form, address, token).Send(t.Context(), letter)
		if !errors.Is(err, ErrUnwanted) || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "400 Bad Request") {
			t.Errorf("%s: %v, want the status and nothing secret", form, err)
		}
	}
	err := chatTo(config.ChatNtfy, "http://ntfy.example.net/hunter2\x7f", "").Send(t.Context(), letter)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("where no request can be made: %v, want an error without the address", err)
	}
}

// A message that is on its way when the daemon stops is waited for: it would else come again at the next start.
func TestAChatIsHeardOutWhenTheDaemonStops(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++; stop() }))
	defer s.Close()
	c := chatTo(config.ChatNtfy, s.URL, "")
	if err := c.Send(ctx, letter); err != nil {
		t.Errorf("of a message that was taken: %v", err)
	}
	if err := c.Send(ctx, letter); !errors.Is(err, context.Canceled) || asked != 1 {
		t.Errorf("once it has stopped: %v, asked %d times, want once", err, asked)
	}
}
