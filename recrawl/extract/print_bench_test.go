package extract

import (
	"bytes"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"recrawld/recrawl/canon"
)

// BenchmarkChoiceOfPrint measures what fingerprint.Print was chosen by: min-hash sketches against simhash, over all lines of
// the visible text and over the long ones, at the likenesses between which each is of use. Its figures are the shares of
// pairs, in percent, that are taken as alike; run it once (-benchtime 1x).
func BenchmarkChoiceOfPrint(b *testing.B) {
	pairs := choicePairs(b)
	for _, m := range choiceMethods {
		for _, text := range []string{"all text", "long lines"} {
			likes := make(map[string][]float64)
			for set, some := range pairs {
				likes[set] = likenesses(some, m, text == "long lines")
			}
			for _, at := range m.at {
				b.Run(fmt.Sprintf("%s, %s, from %.2f", m.name, text, at), func(b *testing.B) {
					for b.Loop() {
						for _, set := range choiceSets {
							b.ReportMetric(100*shareFrom(likes[set], at), "%-of-"+strings.ReplaceAll(set, " ", "-"))
						}
					}
					b.ReportMetric(0, "ns/op") // the shares alone are of interest
				})
			}
		}
	}
}

// choiceSets are pairs of pages: versions that differ by noise, a page and one with its short lines in another order, pages
// of 100 words under one template that differ by a word, and such that share no text; pages of one service.
var choiceSets = []string{"noise", "menu", "a word", "other short", "other pages"}

type choicePair struct{ a, b []string } // lines

type choiceMethod struct {
	name string
	of   func(hashes []uint64) []uint64
	like func(a, b []uint64) float64
	at   []float64
}

var choiceMethods = []choiceMethod{
	{"min-hash", minHash, func(a, b []uint64) float64 {
		n := 0
		for i := range a {
			if a[i] == b[i] {
				n++
			}
		}
		return float64(n) / float64(len(a))
	}, []float64{0.75, 0.85, 0.9}},
	{"simhash", simHash, func(a, b []uint64) float64 { return 1 - float64(bits.OnesCount64(a[0]^b[0]))/64 }, []float64{0.85, 0.9, 0.95}},
}

// minHash is a one-permutation sketch of 32 bins of four bits: 16 bytes, as simhash has eight.
func minHash(hashes []uint64) []uint64 {
	least := make([]uint64, 32)
	for _, h := range hashes {
		if bin := h >> 59; least[bin] == 0 || spread(h) < least[bin] {
			least[bin] = spread(h)
		}
	}
	for i := range least {
		least[i] &= 15
	}
	return least
}

// simHash is that of Charikar 2002, of 64 bits.
func simHash(hashes []uint64) []uint64 {
	var sums [64]int
	for _, h := range hashes {
		for bit := range sums {
			sums[bit] += int(spread(h)>>bit&1)*2 - 1
		}
	}
	var print uint64
	for bit, sum := range sums {
		if sum > 0 {
			print |= 1 << bit
		}
	}
	return []uint64{print}
}

func spread(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// grams are the hashes of the runs of 24 letters and digits of some lines.
func grams(lines []string, long bool) []uint64 {
	var text []byte
	for _, line := range lines {
		if !long || len(line) >= 40 {
			text = append(text, strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					return unicode.ToLower(r)
				}
				return -1
			}, line)...)
		}
	}
	hashes := make([]uint64, 0, len(text))
	h, leaving := uint64(0), uint64(1)
	for range 24 {
		leaving *= 0x9E3779B97F4A7C15
	}
	for i, c := range text {
		if h = h*0x9E3779B97F4A7C15 + uint64(c); i >= 24 {
			h -= leaving * uint64(text[i-24])
		}
		if i >= 23 {
			hashes = append(hashes, spread(h))
		}
	}
	return hashes
}

// likenesses are those that a method sees in pairs; 0 where there is nothing to compare.
func likenesses(pairs []choicePair, m choiceMethod, long bool) []float64 {
	likes := make([]float64, len(pairs))
	for i, p := range pairs {
		if a, b := grams(p.a, long), grams(p.b, long); len(a) > 0 && len(b) > 0 {
			likes[i] = m.like(m.of(a), m.of(b))
		}
	}
	return likes
}

// shareFrom is the share of likenesses that are at least as high.
func shareFrom(likes []float64, at float64) float64 {
	n := 0
	for _, like := range likes {
		if like >= at {
			n++
		}
	}
	return float64(n) / float64(max(len(likes), 1))
}

// choicePairs reads the corpus and makes the pairs.
func choicePairs(t testing.TB) map[string][]choicePair {
	t.Helper()
	index, at, rng := readIndex(t), mustParse(t, "https://example.org/"), rand.New(rand.NewPCG(1, 2))
	pairs, last, lastPage := make(map[string][]choicePair), []string(nil), ""
	newest := make(map[string][]string)
	eachPage(t, func(name string, body []byte) {
		row, lines := index[name], linesOf(body, at)
		if row.page == lastPage && row.meaningful == "0" && !slices.Equal(lines, last) && rng.IntN(2) == 0 {
			pairs["noise"] = append(pairs["noise"], choicePair{last, lines})
		}
		last, lastPage, newest[row.page] = lines, row.page, lines
	})
	for _, page := range slices.Sorted(maps.Keys(newest)) {
		lines := newest[page]
		pairs["menu"] = append(pairs["menu"], choicePair{lines, shuffled(lines, rng)})
		for _, other := range slices.Sorted(maps.Keys(newest)) {
			if service, _, _ := strings.Cut(page, "/"); other > page && strings.HasPrefix(other, service+"/") && rng.IntN(4) == 0 {
				pairs["other pages"] = append(pairs["other pages"], choicePair{lines, newest[other]})
			}
		}
		pairs["a word"], pairs["other short"] = shortPairs(lines, rng, pairs["a word"], pairs["other short"])
	}
	return pairs
}

func linesOf(body []byte, at canon.URL) []string {
	var text bytes.Buffer
	Page(body, "text/html", at, Options{Bytes: 1 << 20, Text: &text})
	return strings.Split(text.String(), "\n")
}

// shuffled is a page with its short lines in another order.
func shuffled(lines []string, rng *rand.Rand) []string {
	out := slices.Clone(lines)
	var short []int
	for i, line := range out {
		if len(line) < 40 {
			short = append(short, i)
		}
	}
	rng.Shuffle(len(short), func(i, j int) { out[short[i]], out[short[j]] = out[short[j]], out[short[i]] })
	return out
}

// shortPairs are pages of 100 words of a page's long lines each, under its short ones.
func shortPairs(lines []string, rng *rand.Rand, word, other []choicePair) (_, _ []choicePair) {
	var template, prose []string
	for _, line := range lines {
		if len(line) < 60 {
			template = append(template, line)
		} else {
			prose = append(prose, strings.Fields(line)...)
		}
	}
	of := func(words []string) []string {
		page := slices.Clone(template)
		for part := range slices.Chunk(words, 25) {
			page = append(page, strings.Join(part, " "))
		}
		return page
	}
	for range 3 {
		if len(prose) < 300 {
			break
		}
		from := rng.IntN(len(prose) - 200)
		words := slices.Clone(prose[from : from+100])
		a := of(words)
		words[rng.IntN(len(words))] = "kilimanjaro"
		word = append(word, choicePair{a, of(words)})
		other = append(other, choicePair{a, of(prose[from+100 : from+200])})
	}
	return word, other
}
