package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The configurations that the README and docs show are good, and say what is said of them.
func TestShownConfigurations(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, strings.Split(string(text), "```yaml\n")[1:]...)
	}
	if len(blocks) < 5 {
		t.Fatalf("%d configurations are shown, want five or more", len(blocks))
	}
	adaptive, hooks, indexes, mails, chats := 0, 0, 0, 0, 0
	here := strings.NewReplacer("/etc/recrawld/search.keys", keysFile(t, 0o600, oldKey), "/etc/recrawld/docs.key", keysFile(t, 0o600, "0123456789abcdef"),
		"/etc/recrawld/search.token", keysFile(t, 0o600, "u:p"),
		"/etc/recrawld/mail.password", keysFile(t, 0o600, "hunter2"), "/etc/recrawld/chat.token", keysFile(t, 0o600, "tk_x"),
		"/etc/recrawld/chat.url", keysFile(t, 0o600, "https://hooks.example.net/x"))
	for _, block := range blocks {
		text, _, closed := strings.Cut(block, "```")
		if !closed {
			t.Fatalf("a configuration has no end:\n%s", text)
		}
		text = here.Replace(text)
		c, _, err := Parse("shown.yaml", []byte(text))
		if err != nil {
			t.Errorf("Parse: %v\n%s", err, text)
			continue
		}
		hooks += len(c.Webhooks)
		indexes += len(c.Indexes)
		mails += len(c.Mails)
		chats += len(c.Chats)
		for _, site := range c.Sites {
			if site.Settings.Policy == "adaptive" && !c.Budget.IsZero() && len(site.Settings.Importance.Rules) > 0 {
				adaptive++
			}
		}
	}
	if hooks == 0 {
		t.Error("no configuration that is shown has a webhook")
	}
	if indexes == 0 {
		t.Error("no configuration that is shown has a search server")
	}
	if mails == 0 {
		t.Error("no configuration that is shown has a mail")
	}
	if chats == 0 {
		t.Error("no configuration that is shown has a chat")
	}
	if adaptive == 0 {
		t.Error("no configuration that is shown has an adaptive site with a budget and rules of importance")
	}
}
