package recrawl

import (
	"net/http"
	"testing"

	"recrawld/internal/hostile"
	"recrawld/recrawl/canon"
)

func TestLinkedCanonical(t *testing.T) {
	t.Parallel()
	at, err := canon.Parse("https://example.org/dir/page")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		`<https://example.net/x>; rel="canonical"`:              "https://example.net/x",
		`</y>; rel=canonical`:                                   "https://example.org/y",
		`<z?a=1,2;3>;title="a, b";REL="Prev Canonical"`:         "https://example.org/dir/z?a=1,2;3",
		`</a>; rel=next, </b>; rel="canonical"`:                 "https://example.org/b",
		`</a>; rel=canonical; anchor="#x", </b>; rel=canonical`: "https://example.org/b",
		`<javascript:1>; rel=canonical, </b>; rel=canonical`:    "https://example.org/b",
		`</dir/page>; rel=canonical`:                            "",
		`</a>; rel=canonicals`:                                  "",
		`</a>; title=canonical`:                                 "",
		`/a; rel=canonical`:                                     "",
		`<`:                                                     "",
		`</a; rel=canonical`:                                    "",
		`<>; rel=canonical`:                                     "",
		"":                                                      "",
	} {
		if got := canonical(at, canon.URL{}, http.Header{"Link": {value}}); got != want {
			t.Errorf("canonical of %s = %q, want %q", value, got, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	const header = `</header>; rel="canonical"`
	for body, want := range map[string]string{
		`<link rel=canonical href=/element><p>x`: "/element",
		`<p>x`:                                   "/header",
		`<link rel=canonical href=/><p>x`:        "",
	} {
		o := listen(t, map[string]hostile.Answer{"/": page(body, "Link", header)})
		if want != "" {
			want = o.URL(want)
		}
		if out := newRig(t, nil).fetch(o.URL("/")); out.Canonical != want {
			t.Errorf("canonical of %q = %q, want %q", body, out.Canonical, want)
		}
	}
}

func FuzzLinkedCanonical(f *testing.F) {
	f.Add(`<https://example.net/x>; rel="canonical", </y>`)
	f.Add(`<<>>;rel=canonical;anchor`)
	at, err := canon.Parse("https://example.org/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := canonical(at, canon.URL{}, http.Header{"Link": {value}})
		if u, err := canon.Parse(got); got != "" && (err != nil || u.String() != got || u == at) {
			t.Errorf("canonical of %q is %q", value, got)
		}
	})
}
