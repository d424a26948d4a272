package extract

import (
	"strings"
	"testing"
)

// TestInPlace puts parts that React streamed late where it puts them itself: as react-dom 19.1 and 19.3 write them.
func TestInPlace(t *testing.T) {
	const rc = `<script>$RC=function(b,c){c=document.getElementById(c)};$RC("B:0","S:0")</script>`
	for name, one := range map[string]struct{ page, want string }{
		"no script":     {`<p>$R and $RC</p>`, `<p>$R and $RC</p>`},
		"all in place":  {`<main><!--$--><p>a</p><!--/$--></main>`, `<main><!--$--><p>a</p><!--/$--></main>`},
		"a boundary":    {`<main><!--$?--><template id="B:0"></template><p>Loading…</p><!--/$--></main><div hidden id="S:0"><div>a</div></div>` + rc, `<main><div>a</div></main>` + rc},
		"one in it":     {`<!--$?--><template id="B:0"></template>x<!--$-->y<!--/$-->z<!--/$--><div hidden id="S:0">a</div>` + rc, `a` + rc},
		"with styles":   {`<!--$?--><template id="B:1"></template><!--/$--><div hidden id="S:3">a</div><script>$RR("B:1","S:3",[["/a.css"]])</script>`, `a<script>$RR("B:1","S:3",[["/a.css"]])</script>`},
		"a placeholder": {`<ul><template id="P:1"></template><li>b</ul><div hidden id="S:1"><li>a</div><script>$RS("S:1","P:1")</script>`, `<ul><li>a<li>b</ul><script>$RS("S:1","P:1")</script>`},
		"one in another": {`<!--$?--><template id="B:0"></template>…<!--/$--><div hidden id="S:0">a<!--$?--><template id="B:1"></template>…<!--/$-->c</div>` + rc +
			`<div hidden id="S:1">b</div><script>$RC("B:1","S:1")</script>`, `abc` + rc + `<script>$RC("B:1","S:1")</script>`},
		"not come":    {`<!--$?--><template id="B:0"></template>…<!--/$--><div hidden id="S:0">a`, `<!--$?--><template id="B:0"></template>…<!--/$--><div hidden id="S:0">a`},
		"cut":         {`<!--$?--><template id="B:0"></template>…<!--/$-->` + rc + `<div hidden id="S:0">a`, `<!--$?--><template id="B:0"></template>…<!--/$-->` + rc + `<div hidden id="S:0">a`},
		"in itself":   {rc + `<div id="S:0">a<!--$?--><template id="B:0"></template><!--/$--></div>`, rc + `<div id="S:0">a<!--$?--><template id="B:0"></template><!--/$--></div>`},
		"text of it":  {`<script>push("$RC(\"B:0\",\"S:0\")")</script><!--$?--><template id="B:0"></template>…<!--/$--><div id="S:0">a</div>`, `<script>push("$RC(\"B:0\",\"S:0\")")</script><!--$?--><template id="B:0"></template>…<!--/$--><div id="S:0">a</div>`},
		"overlapping": {`<div id="S:0">a<!--$?--><template id="B:0"></template></div>b<!--/$-->` + rc, `<div id="S:0">a<!--$?--><template id="B:0"></template></div>b<!--/$-->` + rc},
	} {
		if got := string(InPlace([]byte(one.page))); got != one.want {
			t.Errorf("%s: InPlace =\n%s\nwant\n%s", name, got, one.want)
		}
	}
}

func FuzzInPlace(f *testing.F) {
	f.Add(`<!--$?--><template id="B:0"></template>…<!--/$--><div hidden id="S:0">a<!--$?--><template id="B:1"></template>…<!--/$-->c</div><script>$RC("B:0","S:0")</script><div hidden id="S:1">b</div><script>$RC("B:1","S:1")</script>`)
	f.Add(`<ul><template id="P:1"></template><li>b</ul><div hidden id="S:1"><li>a</div><script>$RS("S:1","P:1")</script>`)
	f.Fuzz(func(t *testing.T, page string) {
		got := string(InPlace([]byte(page)))
		if len(got) > len(page) {
			t.Errorf("InPlace(%q) = %q, which is longer", page, got)
		}
		if at := strings.Index(page, "$R"); at < 0 && got != page {
			t.Errorf("InPlace(%q) = %q, want it as it is", page, got)
		}
	})
}
