package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const withHeaders = `
defaults: { headers: { accept-language: de } }
sites:
  - url: https://a.example.org/
  - url: https://b.example.org/
    headers: { Authorization: "${file:%s}", X-Key: "${credential:key}" }
  - url: https://c.example.org/
    headers: {}
`

// Header fields are read in their canonical form; what is secret comes from where it is, is told as that, and is told of nowhere.
// Without the unit's credentials nothing is sent for them.
func TestHeaders(t *testing.T) {
	t.Parallel()
	const login = "Basic dXNlcjpwYXNzd29yZA=="
	file := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(file, []byte(login+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := Parse("test.yaml", fmt.Appendf(nil, withHeaders, file))
	if err != nil {
		t.Fatal(err)
	}
	place := "${file:" + file + "}"
	for i, want := range [][]Header{
		{{"Accept-Language", "de", "de"}},
		{{"Authorization", place, login}, {"X-Key", "${credential:key}", ""}},
		nil,
	} {
		if diff := cmp.Diff(want, c.Sites[i].Settings.Headers); diff != "" {
			t.Errorf("headers of %s (-want +got):\n%s", c.Sites[i].Name, diff)
		}
	}
	if err := c.Validate(); err != nil {
		t.Errorf("Validate = %v", err)
	}
	shown := headersValue{&c.Sites[1].Settings.Headers}.String()
	if strings.Contains(shown, login) || !strings.Contains(shown, place) {
		t.Errorf("the headers are shown as %s, want where the secrets are", shown)
	}
	if h := c.Sites[1].Settings.Headers; !h[0].Secret() || c.Sites[0].Settings.Headers[0].Secret() {
		t.Errorf("secret = %v of %+v, want it for what comes from a file alone", h[0].Secret(), h[0])
	}
}

// A secret that is no header value is not repeated, nor sent.
func TestSecretHeaderThatIsNone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(file, []byte("Basic secret1\r\nX-Other: secret2"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := Parse("test.yaml", fmt.Appendf(nil, withHeaders, file))
	if err == nil || strings.Contains(err.Error(), "secret1") || strings.Contains(err.Error(), "secret2") ||
		!strings.Contains(err.Error(), "test.yaml:6: ") {
		t.Errorf("Parse = %v, want an error of line 6 without the secret", err)
	}
	for _, site := range c.Sites {
		for _, h := range site.Settings.Headers {
			if strings.Contains(h.Value, "secret") {
				t.Errorf("%s would send %q", site.Name, h.Value)
			}
		}
	}
}
