package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExampleSaysTheDefaults(t *testing.T) {
	t.Parallel()
	got, _, err := Parse("recrawld.yaml", []byte(Example))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	if diff := changesText(Diff(&want, &got)); diff != "" {
		t.Errorf("the example is not what holds without it:\n%s", diff)
	}
}

// The commented site is the one the manual points to, so it has to be good too.
func TestExampleSite(t *testing.T) {
	t.Parallel()
	text := "sites:\n"
	_, commented, found := strings.Cut(Example, "# sites:\n")
	if !found {
		t.Fatal("the example has no commented site")
	}
	for line := range strings.Lines(commented) {
		text += strings.TrimPrefix(line, "# ")
	}
	c, _, err := Parse("recrawld.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Sites) != 1 || c.Sites[0].Name != "docs" || c.Sites[0].Settings.FR != 2 {
		t.Errorf("sites of the example = %+v", c.Sites)
	}
}

func TestExampleNamesEveryKey(t *testing.T) {
	t.Parallel()
	var missing []string
	for _, keys := range [][]string{siblings(configFields, ""), siblings(settingFields, "")} {
		for _, key := range keys {
			if !strings.Contains(Example, key+":") {
				missing = append(missing, key)
			}
		}
	}
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Errorf("keys that the example does not name:\n%s", diff)
	}
}

func changesText(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(c.String() + "\n")
	}
	return b.String()
}
