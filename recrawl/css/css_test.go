package css

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown are references with what stands at their places.
func shown(sheet string) []string {
	var all []string
	for r := range Refs([]byte(sheet)) {
		s := r.Text + " at " + sheet[r.Start:r.End]
		if r.Import {
			s = "import " + s
		}
		all = append(all, s)
	}
	return all
}

func TestRefs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sheet string
		want  []string
	}{
		"unquoted":             {`a{background:url(a.png) no-repeat, URL( b.png )}`, []string{"a.png at a.png", "b.png at b.png"}},
		"quoted":               {`a{background:url("a b.png") url( 'c"d.png' )}`, []string{`a b.png at "a b.png"`, `c"d.png at 'c"d.png'`}},
		"src function":         {`a{background:src("a.png")}`, []string{`a.png at "a.png"`}},
		"modifiers":            {`a{background:url("a.png" crossorigin("anonymous"))}`, []string{`a.png at "a.png"`}},
		"font face":            {`@font-face{font-family:"F";src:local("F"),url(f.woff2)format("woff2"),url('f.eot?#iefix')}`, []string{"f.woff2 at f.woff2", "f.eot?#iefix at 'f.eot?#iefix'"}},
		"import":               {`@import "a.css"; @IMPORT url(b.css) print; @import/**/url('c.css')layer(x);`, []string{`import a.css at "a.css"`, "import b.css at b.css", "import c.css at 'c.css'"}},
		"import of nothing":    {`@import x "a.css"; @import;"b.css"`, nil},
		"string alone":         {`a{content:"url(a.png)";quotes:"a" "b"}`, nil},
		"image-set":            {`a{background:image-set("a.png" 1x, url(b.png) 2x, url("c.avif") type("image/avif") 3x), -webkit-image-set('d.png' 1x)}b{content:"e"}`, []string{`a.png at "a.png"`, "b.png at b.png", `c.avif at "c.avif"`, "d.png at 'd.png'"}},
		"image-set never ends": {`a{background:image-set("a.png" 1x;content:"b"}`, []string{`a.png at "a.png"`}},
		"comments":             {`/* url(a) */a{background:/**/url(/*b*/)}/*/ url(c) */`, []string{"/*b*/ at /*b*/"}},
		"comment never ends":   {`a{background:url(a)}/* url(b)`, []string{"a at a"}},
		"escapes": {`a{background:url(a\)b\20 c\000064\2f)}b{background:url("\"\
x\0d")}`, []string{`a)b cd/ at a\)b\20 c\000064\2f`, "\"x\r at \"\\\"\\\nx\\0d\""}},
		"escaped name":        {`a{background:u\72 l(a) \75rl( "b")}@\69mport "c";`, []string{"a at a", `b at "b"`, `import c at "c"`}},
		"escape is too large": {`a{background:url(\110000 \d800 \0)}`, []string{"\ufffd\ufffd\ufffd at " + `\110000 \d800 \0`}},
		"bad url": {`a{background:url(a b), url(c"d), url(e(f), url(g\
), url(ok)}`, []string{"ok at ok"}},
		"bad url, escaped end":  {`a{background:url(a b\)c) url(d)}`, []string{"d at d"}},
		"bad string":            {"a{background:url(\"a\n) url(b)}", []string{"b at b"}},
		"ends in a url":         {`a{background:url(a`, []string{"a at a"}},
		"ends behind its space": {`a{background:url( a `, []string{"a at a"}},
		"ends in a string":      {`@import "a`, []string{`import a at "a`}},
		"ends in an escape":     {`@import "a\`, []string{`import a at "a\`}},
		"ends in url(":          {`a{background:url(`, []string{" at "}},
		"empty":                 {`a{background:url() url("") url( )}`, []string{" at ", ` at ""`, " at "}},
		"namespace":             {`@namespace url(http://n/);@namespace s "http://s/";a{background:url(a)}`, []string{"a at a"}},
		"document":              {`@-moz-document url(http://n/), url-prefix("http://o/"){a{background:url(a)}}`, []string{"a at a"}},
		"hash, unit, at rule":   {`#url(a) 3url(b) 1e3url(c) .5url(d) @url(e) my-url(f) --url(g) url-prefix(h)`, nil},
		"number and a dot":      {`1.url(a)`, []string{"a at a"}},
		"custom property":       {`a{--image:url(a.png)}`, []string{"a.png at a.png"}},
		"mark":                  {"\ufeffurl(a)", []string{"a at a"}},
		"HTML comment":          {`<!-- a{background:url(a)} -->b{background:url(b)}`, []string{"a at a", "b at b"}},
		"other letters":         {`a{background:url(é\e9.png)}`, []string{`éé.png at é\e9.png`}},
		"NUL":                   {"a{background:url(a\x00b)}", []string{"a\ufffdb at a\x00b"}},
		"data":                  {`a{background:url(data:image/png;base64,AAA=)}`, []string{"data:image/png;base64,AAA= at data:image/png;base64,AAA="}},
	} {
		if diff := cmp.Diff(c.want, shown(c.sheet)); diff != "" {
			t.Errorf("%s: references of %s (-want +got):\n%s", name, c.sheet, diff)
		}
	}
}

// TestTimeIsLinear reads sheets that would take hours if each token looked at all that follows.
func TestTimeIsLinear(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"url(", `url("`, "/*", `\`, "@import ", "a", "image-set(", "url( ", "(", "@namespace ", `"`, "url(a b", "1e", "#", "--"} {
		s := scanner{text: bytes.Repeat([]byte(part), 4<<20/len(part)), yield: func(Ref) bool { return true }}
		for last := -1; s.at < len(s.text); s.next() {
			if s.at <= last {
				t.Fatalf("%q again and again: stands still at %d", part, last)
			}
			last = s.at
		}
	}
}

// A sheet that is nothing but references costs no memory beside its own.
func TestReferencesAreNotHeld(t *testing.T) {
	sheet := bytes.Repeat([]byte("url()"), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for range Refs(sheet) {
		n++
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; n != 1<<20 || taken > 1<<20 {
		t.Errorf("%d references took %d bytes, want %d and less than %d", n, taken, 1<<20, 1<<20)
	}
}

// Who has enough is told of no more.
func TestReferencesEndWhereNoMoreAreAskedFor(t *testing.T) {
	t.Parallel()
	n := 0
	for r := range Refs([]byte(`@import "a";a{background:url(b) url("c")}`)) {
		if n++; r.Text == "b" {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d references, want 2", n)
	}
}

func FuzzRefs(f *testing.F) {
	for _, seed := range []string{`@import url("a\"b") x;`, `a{background:url( a\)b ) image-set("x" 1x)}`, "/*url(a)*/url(b\"c)d)\n\"\\\r\n\"", "@charset \"utf-8\";\x00url("} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sheet []byte) {
		last := 0
		for r := range Refs(sheet) {
			if r.Start < last || r.End < r.Start || r.End > len(sheet) {
				t.Fatalf("%+v in %d bytes, after one that ends at %d", r, len(sheet), last)
			}
			last = r.End
			if stands := string(sheet[r.Start:r.End]); !strings.ContainsAny(stands, "\\\x00\"'") && stands != r.Text {
				t.Errorf("%q stands for %q", stands, r.Text)
			}
		}
	})
}
