package diff

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Bodies of ten megabytes and more are compared in bounded time (that of the test), and it is said where only a part was.
func TestHugeBodies(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	random := func() string {
		var b strings.Builder
		for b.Len() < 1<<20 {
			b.WriteString([]string{"ab ", "cd ", "ef. ", "<p>", "<b>", "</b>", "1", "2 "}[rng.IntN(8)])
		}
		return b.String()
	}
	deep := strings.Repeat("<div>", 100_000)
	for name, test := range map[string]struct {
		a, b, kind string
		note       bool
	}{
		"random":          {random(), random(), "text/html", false},
		"beyond":          {strings.Repeat("<p>one line", 1<<20), strings.Repeat("<p>one line", 1<<20) + "<p>end", "text/html", true},
		"one line":        {strings.Repeat("a b ", 1<<19), strings.Repeat("a c ", 1<<19), "text/plain", false},
		"deep":            {deep + "one", deep + "two", "text/html", false},
		"many attributes": {"<p " + strings.Repeat("a=1 ", 1<<18) + ">x", "<p " + strings.Repeat("a=2 ", 1<<18) + ">x", "text/html", false},
		"no line alike":   {strings.Repeat("x\n", 1<<18), strings.Repeat("y\n", 1<<18), "text/plain", true},
		"binary":          {strings.Repeat("\x00\x01", 6<<20), strings.Repeat("\x00\x01", 6<<20) + "\x02", "image/png", false},
		"long words":      {strings.Repeat("x", 2<<20), strings.Repeat("x", 2<<20) + "y", "text/plain", false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := version(t, 1, test.a, test.kind), version(t, 2, test.b, test.kind)
			checkHuge(t, Compare(a, b, Options{Context: 3}), test.note)
		})
	}
}

// checkHuge looks at what a terminal gets of a difference.
func checkHuge(t *testing.T, d Difference, note bool) {
	t.Helper()
	var b strings.Builder
	if err := Text(&b, d, Show{Limit: 200, Now: testNow}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 1<<20 {
		t.Errorf("%d bytes for a terminal", b.Len())
	}
	if blank(t, d, Show{Limit: 200}) {
		t.Errorf("nothing is shown: %s", b.String()[:min(b.Len(), 500)])
	}
	if (len(d.Notes) > 0) != note {
		t.Errorf("notes %q, want some: %v", d.Notes, note)
	}
}
