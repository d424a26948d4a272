package main

import (
	"strings"
	"testing"
)

// TestCommandsTakeBothFormsOfAnAddress: as it is shown to a person, and as it is.
func TestCommandsTakeBothFormsOfAnAddress(t *testing.T) {
	t.Parallel()
	site := serve(t, map[string]string{"/caf\u00e9/": `<title>Caf\u00e9</title><p>Some words of this page, as many as it takes.`})
	config, data := configure(t, "")
	encoded, readable := site.URL+"/caf%C3%A9/", site.URL+"/caf\u00e9/"
	runUntil(t, func() bool { return len(dumpOf(t, data).Versions) == 1 }, "run", "-c", config, readable)
	for _, line := range []string{"why", "show", "visit --wait 0s", "filter test", "export --format cdxj", "noise"} {
		for _, url := range []string{encoded, readable} {
			code, stdout, stderr := command(t, append(strings.Fields(line), "-c", config, url)...)
			if code != exitDone {
				t.Errorf("recrawld %s %s: exit code %d, %s", line, url, code, stderr)
			}
			if line == "why" && !strings.HasPrefix(stdout, encoded+"\n") {
				t.Errorf("in a pipe why %s begins with %.80q, want the address as it is", url, stdout)
			}
		}
	}
}
