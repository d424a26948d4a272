package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWatchOfSomePages(t *testing.T) {
	t.Parallel()
	c, _ := mustParse(t, `
defaults:
  watch: [main, { filter: { path: /product/ }, selectors: ["#price", .stock] }]
sites:
  - url: https://a.example.org/
  - url: https://b.example.org/
    watch: { filter: { path: [/x/, /y/] }, selectors: "#y" }
  - url: https://c.example.org/
    watch: article
`)
	for i, want := range []struct {
		all  []string
		some []Watched
		text string
	}{
		{[]string{"main"}, []Watched{{Filter{Line: 3, Path: []string{"/product/"}}, []string{"#price", ".stock"}}},
			`[main, {filter: {path: /product/}, selectors: ["#price", .stock]}]`},
		{nil, []Watched{{Filter{Line: 7, Path: []string{"/x/", "/y/"}}, []string{"#y"}}}, `[{filter: {path: [/x/, /y/]}, selectors: ["#y"]}]`},
		{[]string{"article"}, nil, "[article]"},
	} {
		s := &c.Sites[i].Settings
		if diff := cmp.Diff(want.all, s.Watch) + cmp.Diff(want.some, s.WatchSome); diff != "" {
			t.Errorf("watch of site %d (-want +got):\n%s", i, diff)
		}
		v := watchValue{&s.Watch, &s.WatchSome}
		if v.String() != want.text || v.check() != nil {
			t.Errorf("site %d is shown as %s, %v; want %s", i, v, v.check(), want.text)
		}
		again, err := c.ParseSettings("watch: " + want.text)
		if back := (watchValue{&again.Watch, &again.WatchSome}).String(); err != nil || back != want.text {
			t.Errorf("what is shown is read back as %s, %v; want %s", back, err, want.text)
		}
	}
}
