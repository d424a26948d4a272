package main

import (
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/models"
	"recrawld/web"
)

// sign is a push, signed as a hub signs it.
func sign(method, secret, body string) web.Push {
	signer := signers[method]
	mac := hmac.New(signer, []byte(secret))
	mac.Write([]byte(body))
	return web.Push{Signature: method + "=" + hex.EncodeToString(mac.Sum(nil)), Body: []byte(body)}
}

// tells is a push and all that comes of it: its outcome, and the paths of pages that are new.
func (h *hubRig) tells(p web.Push) (outcome string, found []string) {
	h.t.Helper()
	before := h.pages()
	if err := h.Hear(h.t.Context(), h.path(), p); err != nil {
		h.t.Fatal(err)
	}
	select {
	case heard := <-h.heard:
		var err error
		if outcome, err = h.hear(h.t.Context(), heard); err != nil {
			h.t.Fatal(err)
		}
	default:
	}
	for _, path := range h.pages() {
		if !slices.Contains(before, path) {
			found = append(found, path)
		}
	}
	return outcome, found
}

// pages are the paths of all that are known.
func (h *hubRig) pages() (paths []string) {
	h.t.Helper()
	for _, host := range []string{"h.example", "elsewhere.example", "169.254.169.254"} {
		pages, err := h.store.PagesFrom(h.t.Context(), models.BucketOf(host), -1<<63, 1000)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, p := range pages {
			paths = append(paths, strings.TrimPrefix(p.URL, "https://h.example"))
		}
	}
	slices.Sort(paths)
	return paths
}

// TestWhatAHubTellsIsAHint: of what its feed did not say before, within its site, signed, once; all else does nothing.
func TestWhatAHubTellsIsAHint(t *testing.T) {
	t.Parallel()
	h := newHubRig(t).subscribed()
	secret := h.asked[0].Get("hub.secret")
	body := atomOf("old", "new", "https://h.example/other/x", "https://elsewhere.example/docs/x", "http://169.254.169.254/latest/", "javascript://h.example/docs/")
	for name, p := range map[string]web.Push{
		"unsigned": {Body: []byte(body)}, "of another secret": sign("sha256", "another", body), "of another body": {Signature: sign("sha256", secret, "x").Signature, Body: []byte(body)},
		"of no method": {Signature: "md5=00", Body: []byte(body)}, "cut off": {Signature: sign("sha256", secret, body).Signature[:20], Body: []byte(body)},
		"empty": {Signature: "sha256=", Body: []byte(body)},
	} {
		if outcome, found := h.tells(p); outcome != "" || len(found) > 0 {
			t.Errorf("a push that is %s: %q, found %q", name, outcome, found)
		}
	}
	if s := h.one(); s.Forged != 6 || s.Pushes != 0 {
		t.Errorf("%d are counted as forged and %d not, want 6 and 0", s.Forged, s.Pushes)
	}
	for _, step := range []struct {
		name, body string
		method     string
		outcome    string
		found      []string
	}{
		{"what is new", body, "sha256", "hints", []string{"/docs/new"}},
		{"the same once more", body, "sha256", "nothing_new", nil},
		{"with one more", atomOf("newer", "new", "old"), "sha1", "hints", []string{"/docs/newer"}},
		{"that alone, once more", atomOf("newer"), "sha384", "nothing_new", nil},
		{"a part that is new", atomOf("third"), "sha512", "hints", []string{"/docs/third"}},
		{"cut off", strings.TrimSuffix(atomOf("fourth"), "</feed>"), "sha256", "hints", []string{"/docs/fourth"}},
		{"no feed", "ping", "sha256", "hints", nil},
		{"no feed, once more", "ping", "sha256", "nothing_new", nil},
		{"of JSON", `{"version":"https://jsonfeed.org/version/1","items":[{"url":"https://h.example/docs/json"}]}`, "sha256", "hints", []string{"/docs/json"}},
	} {
		outcome, found := h.tells(sign(step.method, secret, step.body))
		if outcome != step.outcome || !slices.Equal(found, step.found) {
			t.Errorf("%s: %q, found %q, want %q and %q", step.name, outcome, found, step.outcome, step.found)
		}
	}
	if s := h.one(); s.Pushes != 9 || s.PushedAt != models.At(h.clock.Now()) {
		t.Errorf("%d pushes, the last %v", s.Pushes, s.PushedAt)
	}
	h.c.Sites[0].Settings.Lists = config.ListsChanges
	if outcome, found := h.tells(sign("sha256", secret, atomOf("fifth"))); outcome != "hints" || len(found) > 0 {
		t.Errorf("lists: changes: %q, found %q", outcome, found)
	}
	h.copy = ""
	if outcome, found := h.tells(sign("sha256", secret, atomOf("sixth"))); outcome != "hints" || len(found) > 0 {
		t.Errorf("without a copy of the feed: %q, found %q, want the feed alone", outcome, found)
	}
}

// TestPushesAreBounded: in entries, in a minute, and in how many wait.
func TestPushesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHubRig(t).subscribed()
	secret := h.asked[0].Get("hub.secret")
	var names []string
	for i := range 5000 {
		names = append(names, fmt.Sprint("p", i))
	}
	if outcome, found := h.tells(sign("sha256", secret, atomOf(names...))); outcome != "hints" || len(found) != pushedNews || len(h.one().Said) > saidKept {
		t.Errorf("%s: of 5000 entries %d are found, want %d", outcome, len(found), pushedNews)
	}
	for range 3 {
		if outcome, found := h.tells(sign("sha256", secret, atomOf(names...))); outcome != "nothing_new" || len(found) > 0 {
			t.Errorf("the same once more: %s, %d are found", outcome, len(found))
		}
	}
	for i := range mostPushes + 2 { // one of them when it agreed
		_, err := h.Intends(t.Context(), h.path(), web.Intent{Mode: models.Subscribing, Topic: testFeed})
		if want := i >= mostPushes-1; (refusedWith(err) == http.StatusTooManyRequests) != want {
			t.Errorf("a hub that says what it does for the %d. time more: %v", i, err)
		}
	}
	for i := range mostPushes + 2 {
		if err, want := h.Expects(t.Context(), h.path()), i >= mostPushes; (refusedWith(err) == http.StatusTooManyRequests) != want {
			t.Errorf("push %d: %v", i, err)
		}
	}
	for i := range hubHears + 2 {
		if err, want := h.Hear(t.Context(), h.path(), sign("sha256", secret, "x")), i >= hubHears; (refusedWith(err) == http.StatusServiceUnavailable) != want {
			t.Errorf("push %d that waits: %v", i, err)
		}
	}
}
