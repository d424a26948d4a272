package fingerprint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// article is a page of n words of prose of its own, by number, under a menu that all pages of its site share.
func article(n int, number uint64) []string {
	rng := rand.New(rand.NewPCG(number, 1))
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%dx%d", rng.IntN(4000), i%7)
	}
	return words
}

const menu = `<nav><ul><li><a>Home</a><li><a>Products and services for everybody who needs some</a></ul></nav>`

// page sets words in paragraphs of 30.
func page(title string, words []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<title>%s</title>%s<main><h1>%s</h1>", title, menu, title)
	for chunk := range slices.Chunk(words, 30) {
		fmt.Fprintf(&b, "<p>%s.</p>\n", strings.Join(chunk, " "))
	}
	b.WriteString("</main><footer><p>All rights reserved, in so far as there are any to be reserved</footer>")
	return b.String()
}

func printOf(markup string) Print { return read(markup).Print() }

func TestSmallEditsAreAlike(t *testing.T) {
	t.Parallel()
	words := article(400, 1)
	original := page("Boots", words)
	changed := slices.Clone(words)
	changed[200] = "kilimanjaro"
	sentence := slices.Concat(words[:100], strings.Fields("this sentence was not here before and says little"), words[100:])
	for what, other := range map[string]string{
		"case and punctuation": strings.ReplaceAll(strings.ToUpper(original), ".", "!"),
		"a word":               page("Boots", changed),
		"a sentence":           page("Boots", sentence),
		"a clock":              original + "<p>Generated on 21 November at 06:15:42",
		"another menu":         strings.Replace(original, "Home", "Start</a><li><a>News of today and of yesterday and before</a>", 1),
		"no menu":              strings.Replace(original, menu, "", 1),
		"lines broken apart":   strings.ReplaceAll(original, ".", "<br>"),
	} {
		if !printOf(original).Alike(printOf(other)) {
			t.Errorf("with %s it is another page", what)
		}
	}
}

func TestOtherPagesAreNotAlike(t *testing.T) {
	t.Parallel()
	words := article(400, 1)
	half := slices.Concat(words[:200], article(200, 2))
	original := page("Boots", words)
	for what, other := range map[string]string{
		"other text":                 page("Boots", article(400, 2)),
		"half of the text":           page("Boots", half),
		"the title of another":       page("Shoes", words),
		"a product with other words": page("Boots XL", half),
		"too little text":            page("Boots", words[:40]),
	} {
		if printOf(original).Alike(printOf(other)) {
			t.Errorf("with %s it is the same page", what)
		}
	}
}

// Two products with one text are told apart by their titles, whatever they cost; a page whose price alone changes is the
// same, and so would be another product whose title is no other.
func TestProducts(t *testing.T) {
	t.Parallel()
	product := func(title, name, price string) Print {
		words := article(300, 1)
		words[0], words[100], words[200], words[50] = name, name, name, price
		return printOf(page(title, words))
	}
	boots := product("Alpha boots", "alpha", "149")
	for _, test := range []struct {
		title, name, price string
		alike              bool
	}{
		{"Alpha boots", "alpha", "149", true},
		{"Alpha boots", "alpha", "89", true},
		{"Bravo boots", "bravo", "149", false},
		{"Bravo boots", "alpha", "149", false},
	} {
		if got := boots.Alike(product(test.title, test.name, test.price)); got != test.alike {
			t.Errorf("%s with %s for %s is like the first product: %v, want %v", test.title, test.name, test.price, got, test.alike)
		}
	}
}

// A page with little text of its own has no print, whatever stands around it.
func TestLittleTextHasNoPrint(t *testing.T) {
	t.Parallel()
	for _, markup := range []string{"", "<p>Not found", page("Boots", article(20, 1)), page("Boots", article(40, 1)),
		strings.Repeat(menu, 100)} {
		if p := printOf(markup); !p.IsZero() || p.Alike(p) || len(p.Keys()) != 0 {
			t.Errorf("%.40q has print %x", markup, p)
		}
	}
}

// list is a list of products under an introduction.
func list(from, to int, introduction []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<title>List</title><p>%s</p><ul>", strings.Join(introduction, " "))
	for i := range to - from {
		fmt.Fprintf(&b, "<li><a>Product number %d</a>", from+i)
	}
	return b.String()
}

// The pages of a list differ by what they list, though they share title and introduction; a copy of one is the same.
func TestPagesOfAListAreNotAlike(t *testing.T) {
	t.Parallel()
	for _, introduction := range [][]string{nil, article(200, 1)} {
		first := printOf(list(1, 60, introduction))
		if other := printOf(list(60, 120, introduction)); first.IsZero() || first.Alike(other) {
			t.Errorf("with an introduction of %d words: pages 1 and 2 are alike (%x, %x)", len(introduction), first, other)
		}
		if !first.Alike(printOf(list(1, 60, introduction))) {
			t.Errorf("with an introduction of %d words: page 1 is not like itself", len(introduction))
		}
	}
}

// drawPrint draws a print that looks like real ones.
func drawPrint(t *rapid.T) Print {
	var p Print
	copy(p[:], rapid.SliceOfN(rapid.Byte(), len(p), len(p)).Draw(t, "print"))
	p[0] |= 1
	return p
}

// TestAlikePrintsShareAKey holds the index to what it promises: what is alike is found.
func TestAlikePrintsShareAKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPrint(t)
		q := p
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(q)-1).Draw(t, "at")
			q[at] ^= rapid.SampledFrom([]byte{1, 16, 0x80}).Draw(t, "bit")
		}
		if p.Alike(q) != q.Alike(p) || !p.Alike(p) || len(p.Keys()) == 0 {
			t.Fatalf("%x, %x: alike one way only, or not itself", p, q)
		}
		shared := slices.ContainsFunc(p.Keys(), func(key uint64) bool { return slices.Contains(q.Keys(), key) })
		if p.Alike(q) && !shared {
			t.Fatalf("%x and %x are alike and share no key", p, q)
		}
	})
}

// TestWinnowing holds winnowing to its promise, against its definition.
func TestWinnowing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.IntRange(1, 4).Draw(t, "letters")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		text := make([]byte, random.IntN(5*blockBytes))
		for i := range text {
			text[i] = 'a' + byte(random.IntN(letters))
		}
		var w winnow
		var got []uint64
		for rest := text; len(rest) > 0; {
			part := rest[:rapid.IntRange(1, min(len(rest), blockBytes)).Draw(t, "part")]
			got, rest = append(got, w.write(part)...), rest[len(part):]
		}
		if want := winnowed(text); !slices.Equal(got, want) {
			t.Fatalf("of %q %d are selected, want %d", text, len(got), len(want))
		}
	})
}

// winnowed is winnowing by its definition: the least hash of each window, once for windows in a row.
func winnowed(text []byte) []uint64 {
	var hashes []uint64
	for i := gram; i <= len(text); i++ {
		hashes = append(hashes, order(hashOn(0, text[i-gram:i])))
	}
	var out []uint64
	for i := window; i <= len(hashes); i++ {
		if least := slices.Min(hashes[i-window : i]); len(out) == 0 || least != out[len(out)-1] {
			out = append(out, least)
		}
	}
	return out
}

func FuzzPrint(f *testing.F) {
	f.Add([]byte(page("Boots", article(200, 1))))
	f.Add([]byte(list(1, 60, nil)))
	f.Add([]byte("<h1><title><nav><main></nav></nav><a><a>" + strings.Repeat("ab\xff\u00c4", 300)))
	f.Fuzz(func(t *testing.T, markup []byte) {
		whole, again := read(string(markup)), read(string(markup))
		p := whole.Print()
		if p != again.Print() {
			t.Fatalf("%q has two prints", markup)
		}
		if !p.IsZero() && (!p.Alike(p) || len(p.Keys()) == 0) {
			t.Fatalf("%q: %x is not like itself or has no key", markup, p)
		}
		if q := printOf(string(bytes.ReplaceAll(markup, []byte(" "), []byte("  ")))); p != q && !bytes.Contains(markup, []byte("<")) {
			t.Fatalf("%q: white space counts", markup)
		}
	})
}

// BenchmarkPrint is the whole pass over visible text, digest and print, without the tokenizer.
func BenchmarkPrint(b *testing.B) {
	text := []byte(strings.Repeat("The quick brown fox jumps over the lazy dog, again. ", 8<<10/52))
	name := []byte("p")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		t := NewText()
		for line := range slices.Chunk(text, 300) {
			t.Start(name, false, false)
			t.Write(line)
		}
		t.Sum()
		t.Print()
	}
}
