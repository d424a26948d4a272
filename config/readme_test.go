package config

import (
	"os"
	"strings"
	"testing"
)

// The configurations that the README shows are good, and say what it says of them.
func TestReadmeConfigurations(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```yaml\n")[1:]
	if len(blocks) < 3 {
		t.Fatalf("the README shows %d configurations, want three or more", len(blocks))
	}
	adaptive, hooks, keys := 0, 0, keysFile(t, 0o600, oldKey)
	for _, block := range blocks {
		text, _, closed := strings.Cut(block, "```")
		if !closed {
			t.Fatalf("a configuration of the README has no end:\n%s", text)
		}
		text = strings.ReplaceAll(text, "/etc/recrawld/search.keys", keys)
		c, _, err := Parse("README.md", []byte(text))
		if err != nil {
			t.Errorf("Parse: %v\n%s", err, text)
			continue
		}
		hooks += len(c.Webhooks)
		for _, site := range c.Sites {
			if site.Settings.Policy == "adaptive" && !c.Budget.IsZero() && len(site.Settings.Importance.Rules) > 0 {
				adaptive++
			}
		}
	}
	if hooks == 0 {
		t.Error("no configuration of the README has a webhook")
	}
	if adaptive == 0 {
		t.Error("no configuration of the README has an adaptive site with a budget and rules of importance")
	}
}
