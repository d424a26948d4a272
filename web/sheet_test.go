package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSheets: what a command prints is shown with its colours and links, in a menu of all of them; what is about a page leads to all that
// is about it.
func TestSheets(t *testing.T) {
	t.Parallel()
	var got url.Values
	base := startFull(t, Options{Sheets: []Sheet{
		sheetOf("status", "one \x1b[31mred\x1b[0m line, see http://h.test/a"),
		sheetOf("report/daily", "days"),
		{Name: "list", Menu: "lists", Hint: "all lists"},
		{Name: "list/one", Menu: "one", Of: "list", Hint: "the <first>", Print: sheetOf("", "of a list").Print},
		{Name: "site", Hint: "of a site", Parameters: []Parameter{{Name: "site", Hint: "name"}}, Print: sheetOf("", "\x1b]8;;site:a%2Fb%22\x1b\\\x1b[1ma/b\x1b[0m\x1b]8;;\x1b\\").Print},
		{Name: "why", Hint: "why then", Parameters: []Parameter{{Name: "url"}, {Name: "x", Hint: "3..5"}}, Print: func(_ context.Context, out io.Writer, p url.Values) error {
			got = p
			fmt.Fprint(out, p.Get("url"))
			return nil
		}},
		{Name: "show", Hint: "it", Print: func(context.Context, io.Writer, url.Values) error {
			return Refusal{http.StatusNotFound, errors.New("not known: <b>")}
		}},
	}})
	for path, want := range map[string][]string{
		"/status": {`one <span class="bad">red</span> line, see <a href="/why?url=http%3A%2F%2Fh.test%2Fa">http://h.test/a</a>`,
			`<a href="/status" aria-current="page">status</a>`, `<a href="/report/daily">report/daily</a>`, `http-equiv="refresh"`},
		"/list":         {`<a href="/list" aria-current="page">lists</a>`, `<dt><a href="/list/one">one</a><dd>the &lt;first&gt;</dl>`},
		"/list/one":     {`<a href="/list" aria-current="page">lists</a>`, "<pre>of a list</pre>"},
		"/report/daily": {"days", `<a href="/report/daily" aria-current="page">`},
		"/site?site=a/b%22": {`<a href="/site?site=a%2Fb%22"><span class="strong">a/b</span></a>`, `<p>a/b&#34; · <a href="/site?site=a%2fb%22" aria-current="page">site</a></p>`,
			`<form action="/site"><label>site <input name="site" value="a/b&#34;" placeholder="name" size="4"></label>`},
		"/why?url=http://h.test/%3Fa%3D1%26b&x=2": {`<input type="hidden" name="url" value="http://h.test/?a=1&amp;b"><label>x <input name="x" value="2" placeholder="3..5" size="4"></label>`,
			`<a href="/show?url=http%3a%2f%2fh.test%2f%3fa%3d1%26b">show</a>`,
			`<a href="http://h.test/?a=1&amp;b" rel="noreferrer noopener">the page itself</a>`},
	} {
		status, body := request(t, "GET", base+path, "")
		if status != http.StatusOK {
			t.Errorf("%s = %d", path, status)
		}
		for _, part := range want {
			if !strings.Contains(body, part) {
				t.Errorf("%s has no %s:\n%s", path, part, body)
			}
		}
		if header, _, _ := strings.Cut(body, "</header>"); strings.Contains(header, "/list/one") {
			t.Errorf("%s has what is listed elsewhere in its menu:\n%s", path, header)
		}
	}
	if got.Get("x") != "2" || got.Get("url") != "http://h.test/?a=1&b" {
		t.Errorf("the command got %v", got)
	}
	if status, body := request(t, "GET", base+"/show?url=x", ""); status != http.StatusNotFound || !strings.Contains(body, "not known: &lt;b&gt;") {
		t.Errorf("an error = %d %s", status, body)
	}
}

// TestFault_106_SheetsShowMarkupAsText: whatever addresses and texts hold, a browser sees no element of theirs, and no link but to http and
// https.
func TestFault_106_SheetsShowMarkupAsText(t *testing.T) {
	t.Parallel()
	const markup = `"><script>alert("x")</script><a href="javascript:alert(1)" onclick='x'>`
	base := startFull(t, Options{Sheets: []Sheet{sheetOf("why", markup+"\x1b]8;;javascript:alert(1)\x1b\\"+markup)}})
	for _, address := range []string{markup, "javascript:alert(1)", "data:text/html,x", "http://h/" + markup} {
		answer, body := request(t, "GET", base+"/why?url="+url.QueryEscape(address), "")
		if answer != http.StatusOK || strings.Contains(body, "<script") || strings.Contains(body, `href="javascript:`) || strings.Contains(body, `href="data:`) ||
			strings.Contains(body, "onclick='") {
			t.Errorf("%s is shown as\n%s", address, body)
		}
	}
}

// TestSheetsTakeTurns: no more are printed at a time than there is room for; others wait a while and are told so, and what takes too
// long is given up.
func TestSheetsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(Options{})
		slow := Sheet{Name: "slow", Print: func(ctx context.Context, _ io.Writer, _ url.Values) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		type result struct {
			err   error
			after time.Duration
		}
		results := make(chan result)
		began := time.Now()
		for range sheetsAtOnce + 1 {
			go func() {
				_, err := d.print(t.Context(), slow, nil)
				results <- result{err, time.Since(began)}
			}()
		}
		if r := <-results; !errors.Is(r.err, errCrowded.Err) || r.after != sheetWait {
			t.Errorf("one too many: %v after %v", r.err, r.after)
		}
		for range sheetsAtOnce {
			if r := <-results; !errors.Is(r.err, errSlow.Err) || r.after != sheetTime {
				t.Errorf("a slow one: %v after %v", r.err, r.after)
			}
		}
		if _, err := d.print(t.Context(), sheetOf("quick", "x"), nil); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
