package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// atDesk is globals for a command whose answer is looked at: a configuration file with the given text, a data directory
// in which nothing has been done yet, and standard input.
func atDesk(t *testing.T, text, stdin string) (*globals, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "recrawld.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var answer bytes.Buffer
	g := &globals{ConfigPath: path, Data: filepath.Join(dir, "data")}
	g.connect(strings.NewReader(stdin), &answer, io.Discard)
	return g, &answer
}

const twoSites = `agent: {contact: me@example.net}
sites:
  - url: https://docs.example.org/en/
    name: docs
    fr: 2
    filter:
      not: {extension: [jpg, png]}
  - url: https://www.example.net/
    level: 3
`

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		code int
		want []string
	}{
		{twoSites, exitDone, []string{"is good: 2 sites, cycle 6h"}},
		{"", exitDone, []string{"is good: 0 sites"}},
		{"sites: [{url: 'http://127.0.0.1:8080/'}]", exitDone, []string{"1 site,"}},
		{"cycle: 6\nlisten: x\n", exitUsage, []string{":1: cycle: 6 has no unit, write 6h\n", ":2: listen: "}},
		{"sites: [{url: 'https://example.org/'}]", exitUsage, []string{"agent.contact: is missing, and site example.org is not on this machine"}},
		{"agent: {contact: me@example.net}\nsites: [{url: 'https://example..org/'}]", exitUsage, []string{"compile scope of site example..org"}},
	}
	for _, test := range tests {
		g, answer := atDesk(t, test.text, "")
		if code := exitCode(configCheckCmd{}.Run(t.Context(), g)); code != test.code {
			t.Errorf("config check of %q: exit code %d, want %d", test.text, code, test.code)
		}
		for _, want := range test.want {
			if !strings.Contains(answer.String(), want) {
				t.Errorf("config check of %q answers\n%s\nwithout %q", test.text, answer, want)
			}
		}
	}
	g, _ := atDesk(t, "", "")
	if code := exitCode(configCheckCmd{File: g.ConfigPath + ".none"}.Run(t.Context(), g)); code != exitUsage {
		t.Errorf("config check of a missing file: exit code %d, want %d", code, exitUsage)
	}
}

func TestConfigCheckJSON(t *testing.T) {
	t.Parallel()
	g, answer := atDesk(t, "cycle: 6\nlisten: x\n", "")
	g.JSON = true
	if code := exitCode(configCheckCmd{}.Run(t.Context(), g)); code != exitUsage {
		t.Errorf("exit code %d, want %d", code, exitUsage)
	}
	var got struct {
		Good     bool
		Problems []struct {
			Line int
			Text string
		}
	}
	if err := json.Unmarshal(answer.Bytes(), &got); err != nil || got.Good || len(got.Problems) != 2 || got.Problems[0].Line != 1 {
		t.Errorf("answer %s is read as %+v, %v", answer, got, err)
	}
}

// valuesShown runs config show and returns its JSON rows by site and key.
func valuesShown(t *testing.T, g *globals, answer *bytes.Buffer, c configShowCmd) map[string]map[string]any {
	t.Helper()
	g.JSON = true
	if err := c.Run(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	var got struct{ Rows []map[string]any }
	if err := json.Unmarshal(answer.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	rows := make(map[string]map[string]any)
	for _, row := range got.Rows {
		rows[row["site"].(string)+" "+row["key"].(string)] = row
	}
	return rows
}

func TestConfigShow(t *testing.T) {
	t.Parallel()
	g, answer := atDesk(t, twoSites, "")
	rows := valuesShown(t, g, answer, configShowCmd{})
	tests := []struct {
		key, value, source string
		line               float64
	}{
		{" agent.contact", "me@example.net", "file", 1},
		{" cycle", "6h", "default", 0},
		{" data", g.Data, "command", 0},
		{"docs fr", "2", "file", 5},
		{"docs fr_max", "120", "default", 0},
		{"www.example.net level", "3", "file", 9},
	}
	for _, test := range tests {
		row := rows[test.key]
		if row["value"] != test.value || row["source"] != test.source || row["line"] != test.line {
			t.Errorf("%s is shown as %v, want %+v", test.key, row, test)
		}
	}
}

func TestConfigShowForPeople(t *testing.T) {
	t.Parallel()
	g, answer := atDesk(t, twoSites, "")
	if err := (configShowCmd{}).Run(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"site docs: fr ", "site docs, recrawld.yaml:5", "{not: {extension: [jpg, png]}}"} {
		if !strings.Contains(answer.String(), want) {
			t.Errorf("config show does not say %q:\n%s", want, answer)
		}
	}
	if strings.Contains(answer.String(), "site docs: fr_max") {
		t.Errorf("config show repeats the defaults for each site:\n%s", answer)
	}
	answer.Reset()
	if err := (configShowCmd{Site: "docs"}).Run(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(answer.String(), "fr_max") || strings.Contains(answer.String(), "agent.contact") {
		t.Errorf("config show --site docs answers\n%s", answer)
	}
	if code := exitCode((configShowCmd{Site: "nowhere"}).Run(t.Context(), g)); code != exitNotFound {
		t.Errorf("config show --site nowhere: exit code %d, want %d", code, exitNotFound)
	}
}

// The sites that commands added are in force too.
func TestConfigShowHasTheSitesOfTheDatabase(t *testing.T) {
	t.Parallel()
	g, answer := atDesk(t, twoSites, "")
	c, _, err := g.loadConfig()
	if err != nil {
		t.Fatal(err)
	}
	store, err := g.openStoreForWriting(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.AddSite(t.Context(), clock.System{}.Now(), models.Site{Name: "added", URL: "https://added.example.org/", Settings: "delay: 3s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	row := valuesShown(t, g, answer, configShowCmd{})["added delay"]
	if row["value"] != "3s" || row["source"] != "command" {
		t.Errorf("delay of the added site is shown as %v", row)
	}
}

func TestConfigDiff(t *testing.T) {
	t.Parallel()
	g, answer := atDesk(t, twoSites, "")
	other := g.ConfigPath + ".new"
	if err := os.WriteFile(other, []byte(strings.ReplaceAll(twoSites, "fr: 2", "fr: 7")), 0o600); err != nil {
		t.Fatal(err)
	}
	g.JSON = true
	if err := (configDiffCmd{g.ConfigPath, other}).Run(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if want := `{"site": "docs", "key": "fr", "old": "2", "new": "7"}`; !strings.Contains(answer.String(), want) || strings.Count(answer.String(), `"key"`) != 1 {
		t.Errorf("config diff answers\n%s\nwant %s alone", answer, want)
	}
}

func TestConfigInit(t *testing.T) {
	t.Parallel()
	g, answer := atDesk(t, "", "")
	if err := (configInitCmd{}).Run(g); err != nil || answer.String() != config.Example {
		t.Errorf("config init prints %d bytes, %v, want the example", answer.Len(), err)
	}
	path := g.ConfigPath + ".init"
	if err := (configInitCmd{File: path}).Run(g); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path); err != nil {
		t.Errorf("what config init writes is refused: %v", err)
	}
	if err := (configInitCmd{File: path}).Run(g); err == nil {
		t.Error("config init writes over a file")
	}
}
