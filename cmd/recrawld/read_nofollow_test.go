package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestWhySaysThatLinksAreNotFollowed: a site whose pages ask for that ends with its start page, as one of cgit does as it comes.
func TestWhySaysThatLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	site := lend(t)
	site.files["/docs/"] = `<title>One</title><meta name=robots content="index, nofollow"><a href=two>two</a>`
	path, _ := configure(t, fmt.Sprintf("sites:\n  - {url: %q, name: docs}\n", site.URL+"/docs/"))
	runUntil(t, func() bool { return copied(t, path, site.URL+"/docs/") }, "run", "-c", path)
	if answer := must(t, "why", "-c", path, site.URL+"/docs/"); !strings.Contains(answer, "links       not followed, as the page asks") {
		t.Errorf("why:\n%s", answer)
	}
	if answer := must(t, "why", "-c", path, "--json", site.URL+"/docs/"); !strings.Contains(answer, `"nofollow": true`) {
		t.Errorf("why --json:\n%s", answer)
	}
}
