package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	oldKey = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3" // 0123456789abcdef01234567
	newKey = "whsec_enp6enp6enp6enp6enp6enp6enp6enp6"
)

// keysFile writes a file with keys.
func keysFile(t *testing.T, mode os.FileMode, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// commented is what the example shows below a key that has nothing, read as if it stood there, with a secret of ours.
func commented(t *testing.T, key, secret, ours string) Config {
	t.Helper()
	_, shown, found := strings.Cut(Example, key+": {}\n")
	shown, _, ends := strings.Cut(shown, "\n\n")
	if !found || !ends {
		t.Fatalf("the example shows nothing below %s", key)
	}
	text := key + ":\n"
	for line := range strings.Lines(shown) {
		text += "  " + strings.TrimPrefix(line, "  # ")
	}
	c, _, err := Parse("recrawld.yaml", []byte(strings.ReplaceAll(text, secret, ours)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func hooks(keys string) string {
	return fmt.Sprintf("webhooks:\n  search:\n    url: https://x.example/in\n    secret: ${file:%s}\n    sites: docs\n    min_significance: 0.5\n    requisites: on\n    private: on\n", keys)
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	path := keysFile(t, 0o600, oldKey)
	c, _, err := Parse("recrawld.yaml", []byte(hooks(path)))
	if err != nil {
		t.Fatal(err)
	}
	want := []Webhook{{Name: "search", URL: "https://x.example/in", Secret: "${file:" + path + "}", Kinds: IndexKinds(), Sites: []string{"docs"},
		Weight: 0.5, Requisites: true, Private: true}}
	if diff := cmp.Diff(want, c.Webhooks); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := c.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
	again, _, err := Parse("again.yaml", []byte("webhooks: "+webhooksValue(&c.Webhooks).String()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Webhooks, again.Webhooks); diff != "" {
		t.Errorf("as it is shown it is read otherwise, -want +got:\n%s", diff)
	}
	// The file counts as it is at each look.
	if err := os.WriteFile(path, []byte(newKey+"\r\n\n"+oldKey), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := c.Webhooks[0].Keys()
	if err != nil || len(keys) != 2 || string(keys[0]) != strings.Repeat("z", 24) || string(keys[1]) != "0123456789abcdef01234567" {
		t.Errorf("Keys = %q, %v, want the new one and the old one", keys, err)
	}
}

// The keys' file is refused at the line that names it, and without what may be a key.
func TestWebhookKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	short := "whsec_c2hvcnQ="
	for _, test := range []struct {
		name, path, want string
	}{
		{"read by others", keysFile(t, 0o644, oldKey), "can be read by others (mode 0644): chmod 600 it"},
		{"three", keysFile(t, 0o600, oldKey, newKey, oldKey), "has 3 keys"},
		{"none", keysFile(t, 0o600, "", " "), "has 0 keys"},
		{"short", keysFile(t, 0o600, oldKey, short), "key 2 is not whsec_ and 24 to 64 bytes in base64"},
		{"without its head", keysFile(t, 0o600, strings.TrimPrefix(oldKey, "whsec_")), "key 1 is not whsec_"},
		{"a directory", filepath.Dir(keysFile(t, 0o600, oldKey)), "is not a regular file"},
	} {
		_, _, err := Parse("recrawld.yaml", []byte(hooks(test.path)))
		if err == nil || !strings.HasPrefix(err.Error(), "recrawld.yaml:4: webhooks.search.secret: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want one of line 4 that says %q", test.name, err, test.want)
		}
		for _, secret := range []string{oldKey[6:], short[6:]} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the message shows a key: %v", test.name, err)
			}
		}
	}
}

// Keys that systemd provides are the daemon's: a command that is called beside it has none and works all the same. Where there are some
// they are looked at.
func TestWebhookKeysOfSystemd(t *testing.T) {
	text := []byte("webhooks: {search: {url: https://x.example/in, secret: \"${credential:keys}\"}}\n")
	t.Setenv(credentials, "")
	c, _, err := Parse("recrawld.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := c.Webhooks[0].Keys(); err == nil || !strings.Contains(err.Error(), "LoadCredential=keys") {
		t.Errorf("Keys = %q, %v, want a refusal that names the way out", keys, err)
	}
	path := keysFile(t, 0o400, oldKey)
	t.Setenv(credentials, filepath.Dir(path))
	if _, _, err := Parse("recrawld.yaml", text); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Parse("recrawld.yaml", text); err == nil || !strings.Contains(err.Error(), "recrawld.yaml:1: webhooks.search.secret: ") {
		t.Errorf("without the file: %v", err)
	}
}

// The commented receiver of the example is good, and says the defaults where it says so.
func TestExampleWebhook(t *testing.T) {
	t.Parallel()
	c := commented(t, "webhooks", "/etc/recrawld/search.keys", keysFile(t, 0o600, oldKey))
	if len(c.Webhooks) != 1 || !cmp.Equal(c.Webhooks[0].Kinds, IndexKinds()) {
		t.Errorf("receivers of the example = %+v", c.Webhooks)
	}
}
