package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recrawld/internal/smtptest"
)

// withoutJSON are the commands of which --json is not tried here, and why.
var withoutJSON = map[string]string{
	"run": "answers nothing", "worker": "answers nothing", "demo": "is for a person to look at", "bench refresh": "takes long", "bench crawl": "takes long", "bench origin": "takes long",
	"bench significance": "takes long", "bench evidence": "takes long",
	"db distribute": "needs a Citus", "complete": "is for shells", "manual": "is a text",
}

// TestEveryCommandHasJSON: with --json all that a command prints on standard output is JSON, or it refuses the flag.
func TestEveryCommandHasJSON(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"/docs/": `<title>Docs</title><p>Hello.<p><a href="a">a</a>`, "/docs/a": "<title>a</title><p>A page."}
	site := serve(t, pages)
	post := smtptest.Start(t, smtptest.Options{})
	config, _ := configure(t, "history: {keep: 30d}\nmail: {team: {to: a@example.net, from: b@example.net, server: \"smtp://"+post.Address+"\"}}\n")
	page := site.URL + "/docs/"
	must(t, "run", "-c", config, page, "--for", "3s")
	pages["/docs/"] = "<title>Docs</title><p>Something else is written here now, and at some length."
	must(t, "visit", "-c", config, page)
	must(t, "run", "-c", config, "--for", "2s")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "list"), []byte(page+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range []string{
		"version", "status", "due", "why " + page, "why http://127.0.0.1:1/", "changes", "changes --after now", "show " + page, "show --text " + page,
		"show --text --chunks on --have 1 " + page,
		"diff " + page, "noise " + page, "report change-rates", "report cost", "report cost --by directory", "report daily", "report hosts", "report hints", "report responses", "report politeness",
		"report calibration", "report rhythm",
		"report slo", "plan --budget 100/day " + page, "simulate --world poisson --pages 200 --hosts 10 --days 7", "sink list", "sink replay mirror", "sink redirects", "sink test mail:team",
		"verify", "db check", "db rewind --yes", "config show", "config check", "config diff " + config + " " + config, "config init " + dir + "/new.yaml",
		"refused: config init", "filter test " + page, "pause --all", "resume " + page, "approve " + page, "visit " + page, "visit --wait 0s " + page,
		"add --yes " + site.URL + "/docs/a", "import " + dir + "/list", "backup " + dir + "/now.backup", "backup", "export --output " + dir + "/x.warc.gz",
		"refused: completion bash", "remove --yes " + page, "restore --yes " + dir + "/now.backup",
	} {
		code, stdout, stderr := command(t, append(strings.Fields(strings.TrimPrefix(line, "refused: ")), "--json", "-c", config)...)
		decoder := json.NewDecoder(strings.NewReader(stdout))
		var value any
		err := decoder.Decode(&value)
		switch {
		case strings.HasPrefix(line, "refused: "):
			if code != exitUsage || stdout != "" {
				t.Errorf("recrawld %s --json: exit code %d, %q; want it refused", line, code, stdout)
			}
		case err != nil || !errors.Is(decoder.Decode(new(any)), io.EOF):
			t.Errorf("recrawld %s --json: exit code %d, %v:\n%.500s%.500s", line, code, err, stdout, stderr)
		default:
			if strings.HasPrefix(line, "why http://127.0.0.1:1/") {
				line = "why (not known)"
			}
			if !strings.HasPrefix(line, "db rewind") { // by table, as its type says
				inTheManualOfJSON(t, line, pathsIn("", value))
			}
		}
		lines = append(lines, strings.TrimPrefix(line, "refused: ")+" ")
	}
	for _, leaf := range model(t).Leaves(false) {
		name := leaf.Path()
		if withoutJSON[name] == "" && !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+" ") }) {
			t.Errorf("recrawld %s is not tried with --json", name)
		}
	}
}
