package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChats(t *testing.T) {
	t.Parallel()
	path, token := keysFile(t, 0o600, "https://hooks.example.net/services/T0/B0/x/"), keysFile(t, 0o600, "syt_x")
	c, _, err := Parse("recrawld.yaml", []byte("chat:\n  team: { form: slack, url: \"${file:"+path+"}\", every: 1h, sites: docs, kinds: gone, min_significance: 0.5 }\n"+
		"  room: { form: matrix, url: http://10.0.0.7:8008, token: \"${file:"+token+"}\", to: \"!abc:example.net\", private: on }\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Chat{{Name: "team", Form: ChatSlack, URL: "${file:" + path + "}", Digest: Digest{Every: "1h", Sites: []string{"docs"}, Kinds: []string{"gone"}, Weight: 0.5}},
		{Name: "room", Form: ChatMatrix, URL: "http://10.0.0.7:8008", Token: "${file:" + token + "}", To: "!abc:example.net", Private: true,
			Digest: Digest{Every: "5m", Kinds: DigestKinds()}}}
	if diff := cmp.Diff(want, c.Chats); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := c.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
	if got, err := c.Chats[0].Address(); got != "https://hooks.example.net/services/T0/B0/x" || err != nil {
		t.Errorf("Address = %q, %v", got, err)
	}
	if got, err := c.Chats[1].Secret(); got != "syt_x" || err != nil {
		t.Errorf("Secret = %q, %v", got, err)
	}
	if got := c.Chats[0].Where() + ", " + c.Chats[1].Where(); got != "slack at hooks.example.net, matrix at 10.0.0.7:8008" {
		t.Errorf("Where = %q", got)
	}
	again, _, err := Parse("again.yaml", []byte("chat: "+chatsValue(&c.Chats).String()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Chats, again.Chats); diff != "" {
		t.Errorf("as it is shown it is read otherwise, -want +got:\n%s", diff)
	}
}

// What is missing of a chat, or does not belong to it, is told at its line, and nothing that is secret.
func TestChatsThatAreRefused(t *testing.T) {
	t.Parallel()
	secret := func(lines ...string) string { return `"${file:` + keysFile(t, 0o600, lines...) + `}"` }
	good := secret("https://hooks.example.net/hunter2")
	for text, want := range map[string]string{
		"form: slak, url: " + good: "chat.x.form: \"slak\" is unknown, did you mean slack?",
		"url: " + good:             "has no form, write one of slack, discord, ntfy, gotify, matrix, telegram",
		"form: slack":              "has no url",
		"form: slack, url: https://hooks.example.net/hunter2":                              "has its url in this file: whoever has it may write there, write ${file:/path}",
		"form: discord, token: " + good + ", url: " + good:                                 "has a token, which discord has in its url",
		"form: gotify, url: https://push.example.net":                                      "has no token",
		"form: matrix, url: https://m.example.net, token: " + good:                         "has no to, write the room of Matrix",
		"form: ntfy, url: https://ntfy.example.net/a, to: x":                               "has a to",
		"form: ntfy, url: http://ntfy.example.net/a":                                       "chat.x.url: is not of scheme https: whoever is on the way could read it; private: on allows it",
		"form: ntfy, url: ntfy.example.net/a":                                              "chat.x.url: \"ntfy.example.net/a\" is not absolute",
		"form: slack, url: " + secret("hunter2"):                                           "chat.x.url: is no URL",
		"form: slack, url: " + secret("https://a/hunter2", "second"):                       "chat.x.url: has more than one line, a URL has one",
		"form: telegram, to: x, token: " + secret(""):                                      "chat.x.token: ",
		"form: telegram, to: x, token: " + good + ", kinds: []":                            "has no kinds",
		"form: ntfy, url: HTTP://ntfy.example.net/a":                                       "chat.x.url: is not of scheme https",
		"form: slack, url: hooks.example.net/hunter2":                                      "has its url in this file",
		"form: gotify, token: " + good + ", url: \"https://push.example.net/?a\"":          "chat.x.url: has more than a host and a path",
		"form: matrix, to: \"#a:example.net\", url: https://m.example.net, token: " + good: "has a to that is no room's own name",
		"form: telegram, to: x, token: " + secret("hunter2 hunter3"):                       "chat.x.token: has a character that no token has",
		"form: telegram, to: x, token: hunter2":                                            "chat.x.token: is not where a secret is",
	} {
		_, _, err := Parse("recrawld.yaml", []byte("chat:\n  x: { "+text+" }\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "recrawld.yaml:2: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v, want one of line 2 that says %q", text, err, want)
		}
	}
}

// The commented chat of the example is good, and says the defaults where it says so.
func TestExampleChat(t *testing.T) {
	t.Parallel()
	c := commented(t, "chat", "/etc/recrawld/chat.token", keysFile(t, 0o600, "tk_x"))
	if len(c.Chats) != 1 || !cmp.Equal(c.Chats[0].Kinds, DigestKinds()) || c.Chats[0].Every != "5m" {
		t.Errorf("chats of the example = %+v", c.Chats)
	}
}
