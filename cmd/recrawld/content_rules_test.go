package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A watch with a filter is looked for in the pages that the filter keeps, in place of the one for all; the ignored parts are looked for in all.
func TestWatchOfSomePages(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	text := strings.Replace(filledConfig, "    ignore:", "    watch: [body, { filter: { path: /install }, selectors: ['#steps'] }, { filter: { path: /nowhere }, selectors: ['#x'] }]\n    ignore:", 1)
	path := filepath.Join(dir, "recrawld.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, wants := range map[string][2]string{
		"why docs.example.org/install": {`watch: "#steps" matches nothing in version 4; ignore: ".advert"`, `"body"`},
		"why docs.example.org/prices":  {`ignore: ".advert"`, "#steps"},
		"config check " + path:         {`note: site docs: watch: "#steps" matches nothing in the 1 page that`, "#x"},
	} {
		answer, complaint, code := desk(t, dir, strings.Fields(line)...)
		if code != exitDone || !strings.Contains(answer, wants[0]) || strings.Contains(answer, wants[1]) {
			t.Errorf("%s: %d, %q; want %q and not %q in\n%s", line, code, complaint, wants[0], wants[1], answer)
		}
	}
}
