package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// TestAFeedsHubTellsWhatChanged: a daemon that reads a feed asks its hub, hears it also after it was killed in between, and visits at once what it
// tells of; commands and metrics tell of it.
func TestAFeedsHubTellsWhatChanged(t *testing.T) {
	t.Parallel()
	asked := make(chan url.Values, 100)
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ParseForm() == nil {
			asked <- r.PostForm
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(hub.Close)
	pages := map[string]string{"/": `<title>Start</title><a href=/a.html>a</a><a href=/feed.xml>feed</a>`, "/a.html": "<title>A</title>", "/fresh.html": "<title>Fresh</title>"}
	site := serve(t, pages)
	feed := func(titles ...string) string {
		text := `<feed><link rel="hub" href="` + hub.URL + `/"/><link rel="self" href="` + site.URL + `/feed.xml"/>`
		for i := 0; i < len(titles); i += 2 {
			text += `<entry><link href="` + site.URL + titles[i] + `"/><title>` + titles[i+1] + `</title></entry>`
		}
		return text + "</feed>"
	}
	pages["/feed.xml"] = feed("/a.html", "first") // before anybody asks
	config, _ := configure(t, "websub: {callback: \"https://crawler.example/websub/\"}\nsites: [{url: \""+site.URL+"/\"}]\n")
	run := func() (*process, string) {
		p := launch(t, nil, "run", "-c", config, "--listen", "127.0.0.1:0", "--log", "json")
		p.tells("READY=1")
		p.says(`"listen":"http`)
		return p, listens.FindStringSubmatch(p.output())[1]
	}
	p, _ := run()
	awaits(t, "the hub is asked", func() bool { return len(asked) > 0 })
	form := <-asked
	path, ok := strings.CutPrefix(form.Get("hub.callback"), "https://crawler.example")
	if !ok || form.Get("hub.mode") != "subscribe" || form.Get("hub.topic") != site.URL+"/feed.xml" {
		t.Fatalf("the hub is asked %v", form)
	}
	awaits(t, "all pages are known", func() bool {
		known := must(t, "changes", "-c", config, "--after", "all", "--json")
		return strings.Contains(known, site.URL+"/a.html") && strings.Contains(known, site.URL+"/feed.xml")
	})
	p.signal(syscall.SIGKILL)
	p.ends()
	p, address := run()
	query := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {site.URL + "/feed.xml"}, "hub.challenge": {"the challenge"}, "hub.lease_seconds": {"3600"}}
	if status, said := hubAsks(t, "GET", address+path+"?"+query.Encode(), "", ""); status != http.StatusOK || said != "the challenge" {
		t.Fatalf("the hub asks back: %d %s", status, said)
	}
	for len(site.asked) > 0 {
		<-site.asked
	}
	body := feed("/a.html", "second", "/fresh.html", "third")
	for _, secret := range []string{"another", form.Get("hub.secret")} {
		if status, said := hubAsks(t, "POST", address+path, sign("sha256", secret, body).Signature, body); status != http.StatusAccepted {
			t.Errorf("the hub tells: %d %s", status, said)
		}
	}
	for left := map[string]bool{"/a.html": true, "/fresh.html": true}; len(left) > 0; {
		awaits(t, fmt.Sprintf("visits %v, of which the hub told", left), func() bool { return len(site.asked) > 0 })
		path := <-site.asked
		if path == "/feed.xml" {
			t.Error("the feed is asked for what its hub has told")
		}
		delete(left, path)
	}
	commandsTellOfTheHub(t, config, site.URL+"/feed.xml")
	awaits(t, "metrics tell of it", func() bool {
		_, text := hubAsks(t, "GET", address+"/metrics", "", "")
		return strings.Contains(text, `recrawld_websub_subscriptions{state="verified"} 1`) && strings.Contains(text, `recrawld_websub_pushes_total{outcome="hints"} 1`)
	})
	p.signal(syscall.SIGTERM)
	p.ends()
}

// hubAsks is a request of a hub, or of anybody, and what is answered.
func hubAsks(t *testing.T, method, address, signature, body string) (status int, said string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Hub-Signature", signature)
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, b.String()
}

// commandsTellOfTheHub of a feed, which told once, signed.
func commandsTellOfTheHub(t *testing.T, config, feed string) {
	t.Helper()
	for _, c := range []struct{ line, says string }{
		{"report hints", "1 of 1 hub that feeds name tell of changes (WebSub); they told 1 time"},
		{"report hints", "IndexNow, WebSub"},
		{"why " + feed, "told 1 time"},
		{"why " + feed, "1 time without its signature"},
		{"why " + feed + " --json", `"state": "verified"`},
		{"status", "of 1 feed: 1 verified"},
		{"status --json", `"pushes": 1`},
	} {
		awaits(t, c.line+" tells: "+c.says, func() bool {
			return strings.Contains(strings.Join(strings.Fields(must(t, append(strings.Fields(c.line), "-c", config)...)), " "), c.says)
		})
	}
}
