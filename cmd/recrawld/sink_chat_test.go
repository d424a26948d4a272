package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"recrawld/config"
	"recrawld/models"
	"recrawld/sink"
)

// A daemon tells a chat what happened; a test of it is sent at once, and a private address needs that to be said.
func TestAChatIsTold(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	told := make(chan string, 100)
	chat := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- r.URL.Path + " " + r.Header.Get("Authorization") + " " + r.Header.Get("Title") + "\n" + string(body)
	}))
	t.Cleanup(chat.Close)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("tk_7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	section := func(private string) string {
		return fmt.Sprintf("chat:\n  phone: { form: ntfy, url: \"%s/topic/\", token: \"${file:%s}\", every: 10h, private: %s }\n", chat.URL, token, private)
	}
	path, _ := configure(t, section("off"))
	if code, _, stderr := command(t, "sink", "test", "-c", path, "chat:phone"); code != exitUsage || !strings.Contains(stderr, "is not of scheme https") || !strings.Contains(stderr, "private: on") {
		t.Errorf("sink test of a private chat says %d %q", code, stderr)
	}
	path, _ = configure(t, section("on"))
	if text := must(t, "sink", "test", "-c", path, "chat:phone"); text != "sent to ntfy at "+strings.TrimPrefix(chat.URL, "http://")+"\n" {
		t.Errorf("sink test says %q", text)
	}
	if got := <-told; got != "/topic Bearer tk_7 recrawld: a test of chat:phone\nThis is a test of chat:phone by recrawld. What happens to pages comes the same way, once in 10 h.\n" {
		t.Errorf("the test message is %q", got)
	}
	p := launch(t, nil, "run", "-c", path, "--speed", "7200", site.URL)
	got := <-told
	if want := fmt.Sprintf("/topic Bearer tk_7 recrawld: %d pages new on ", len(smallSite)); !strings.HasPrefix(got, want) || !strings.Contains(got, "\nnew: ") || !strings.Contains(got, "\n"+site.URL+"/") {
		t.Errorf("told was %q, want it to begin with %q and to name the pages", got, want)
	}
	awaits(t, "that sink list says when the next message is due", func() bool { // which is noted a moment after this one is taken
		text := must(t, "sink", "list", "-c", path)
		return strings.Contains(text, "chat:phone") && strings.Contains(text, "next in ")
	})
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone || strings.Contains(p.output(), "tk_7") {
		t.Errorf("exit code %d:\n%s", code, p.output())
	}
}

// TestTheMessageOfALife: a chat is told what a mail tells, in short and in its own form.
func TestTheMessageOfALife(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	f.lives()
	w := &digestWriter{name: "team", digest: &config.Digest{Kinds: config.DigestKinds()}, most: chatEntries, write: chatLetter(sink.FormOf(config.ChatSlack))}
	letter, _ := f.told(w, b, sink.Period{Told: filledNow.Add(-10 * day), End: filledNow}, f.since(10*day))
	want := "blog: 1 page new\nnew: <https://blog.example.net/logo.png>\n  6 B of image/png without text that is read\n\ndocs: 1 page changed, 2 new\n" +
		"changed, significance 0.80, 2 times: <https://docs.example.org/install|Install]]&gt;>\n  2 lines changed in the content\n  title: Install{+]]&gt; +}\n" +
		"  Get version [-1.0-] {+1.2 &amp;lt;+}.\n"
	if letter.Subject != "recrawld: 1 page changed, 3 new on blog, docs" || !strings.HasPrefix(letter.Text, want) || letter.Link != "https://blog.example.net/logo.png" {
		t.Errorf("the message is %q, leads to %s:\n%s\nwant\n%s", letter.Subject, letter.Link, letter.Text, want)
	}
	w.digest.Kinds = []string{"failing"}
	if letter, _ := f.told(w, b, sink.Period{Told: filledNow.Add(-day), End: filledNow}, []models.Event{}); letter != nil {
		t.Errorf("of nothing it says %+v", letter)
	}
}
