package scope

import "testing"

func TestMatcher(t *testing.T) {
	t.Parallel()
	m, err := CompileFilter(filter{Any: []filter{{Path: []string{"/news/"}}, {Extension: []string{"xml"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]bool{
		"http://a.org/news/1": true, "http://a.org/feed.xml": true, "http://b.org/olds/1": false,
	} {
		if got := m.Keeps(mustParse(t, url)); got != want {
			t.Errorf("Keeps(%s) = %v, want %v", url, got, want)
		}
	}
	if _, err := CompileFilter(filter{Regexp: []string{"("}}); err == nil {
		t.Error("a pattern that does not compile gives no error")
	}
	if all, err := CompileFilter(filter{}); err != nil || !all.Keeps(mustParse(t, "http://a.org/")) {
		t.Errorf("the empty filter keeps not all, or %v", err)
	}
}
