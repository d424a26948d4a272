package content

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// shopPage is a page of a shop that shows some of its other goods below: the numbers of them, with prices.
func shopPage(price, stock string, others []int) string {
	var b strings.Builder
	for _, i := range others {
		fmt.Fprintf(&b, `<li><a href=/goods/%d>%c%c spade</a> <div class=price>%d.50 €</div></li>`, i, 'A'+i, 'z'-i, i+11)
	}
	return page("Spade", append(story(3), "Price: "+price, stock, "<section><h3>You may also like</h3><ul>"+b.String()+"</ul></section>")...)
}

// watcher sees one page again and again, a day apart.
type watcher struct {
	memory *PageMemory
	before *View
	day    int
}

func (w *watcher) sees(t *testing.T, markup string) Verdict {
	t.Helper()
	after, now := read(t, markup), noon.Add(time.Duration(w.day)*24*time.Hour)
	w.memory = DecodePage(w.memory.Encode())
	v := Judge(Case{Before: w.before, After: after, Page: w.memory, Threshold: threshold, Now: now, Held: now.Add(-24 * time.Hour), Good: true})
	w.before, w.day = after, w.day+1
	return v
}

// A list that shows others of the same goods at each visit is learned, with their prices, and what is said of the page beside it is not.
func TestAListThatTurnsIsLearned(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	others := func() []int { return random.Perm(20)[:3] }
	w := &watcher{memory: &PageMemory{}, before: read(t, shopPage("17 €", "In stock", others())), day: 1}
	for range 40 {
		w.sees(t, shopPage("17 €", "In stock", others()))
	}
	for range 20 {
		if v := w.sees(t, shopPage("17 €", "In stock", others())); v.Kind == Change {
			t.Errorf("day %d: other goods are a change for %v: %+v", w.day, v.Reasons, v.Blocks[0])
		}
	}
	for _, one := range []struct{ name, markup string }{
		{"another price", shopPage("18 €", "In stock", others())},
		{"a sale", shopPage("18 €", "Sold out", others())},
		{"a new article", shopPage("18 €", "Sold out", []int{22, 3, 7})},
	} {
		if v := w.sees(t, one.markup); v.Kind != Change {
			t.Errorf("%s is %v for %v", one.name, v.Kind, v.Reasons)
		}
	}
}

// News that follow one another are a change each time, and so are states that come again on rows of a table, however often.
func TestListsOfNewsAndStatesAreNotLearned(t *testing.T) {
	t.Parallel()
	news := func(n int) string {
		var b strings.Builder
		for i := n; i > n-5; i-- {
			fmt.Fprintf(&b, "<li><a href=/news/%d>What came of the matter number %c of the week %d</a></li>", i, 'a'+i%26, i)
		}
		return page("News", append(story(2), "<ul>"+b.String()+"</ul>")...)
	}
	states := func(n int) string {
		var b strings.Builder
		for i := range 6 {
			fmt.Fprintf(&b, "<tr><td><a href=/s/%d>Service %c</a></td><td>%s</td></tr>", i, 'a'+i, [...]string{"Operational", "Degraded"}[min(i/[...]int{1, 3, 2, 4}[n%4], 1)])
		}
		return page("Status", append(story(2), "<table>"+b.String()+"</table>")...)
	}
	for name, build := range map[string]func(int) string{"news": news, "states": states} {
		w := &watcher{memory: &PageMemory{}, before: read(t, build(5)), day: 1}
		for n := range 60 {
			if v := w.sees(t, build(n+6)); v.Kind != Change {
				t.Errorf("%s: visit %d is %v for %v", name, n, v.Kind, v.Reasons)
				break
			}
		}
	}
}

// A memory of lists is bounded, and what of it does not fit goes first.
func TestMemoryOfLists(t *testing.T) {
	t.Parallel()
	m := &PageMemory{seen: 1}
	for key := range uint64(maxRolls + 2) {
		r := m.roll(key)
		for text := range uint32(maxRollTexts + 5) {
			r.leaves(text + 1)
		}
	}
	got := DecodePage(m.Encode())
	if len(got.rolls) != maxRolls || len(got.rolls[0].gone) != maxRollTexts || got.rolls[0].key != 2 || !got.rolls[0].knows(maxRollTexts+5) || got.rolls[0].knows(5) {
		t.Errorf("of %d lists %d are kept, the first of them %d with %d texts", maxRolls+2, len(got.rolls), got.rolls[0].key, len(got.rolls[0].gone))
	}
	m.seen = ^uint32(0)
	for key := range uint64(2 * maxSlots) {
		m.changed(mix(key%maxSlots), ^uint32(0), 0, false)
	}
	if b := m.Encode(); len(b) > MaxPageMemory || len(DecodePage(b).slots) != maxSlots || len(DecodePage(b).rolls) == maxRolls {
		t.Errorf("a full memory takes %d bytes and reads as %d places and %d lists", len(b), len(DecodePage(b).slots), len(DecodePage(b).rolls))
	}
}

// What is said of entries that stay, as their state or price within the link, and which of them there are, is content, however often it comes again.
func TestListsOfStatesAndStockAreNotLearned(t *testing.T) {
	t.Parallel()
	list := func(entries string) string { return page("List", append(story(2), "<ul>"+entries+"</ul>")...) }
	for name, entry := range map[string]func(n, i int) string{
		"states in links": func(n, i int) string {
			return fmt.Sprintf("<li><a href=/s/%d>Service %c: %s</a></li>", i, 'a'+i, [...]string{"operational", "degraded"}[n>>i&1])
		},
		"prices in links": func(n, i int) string {
			return fmt.Sprintf("<li><a href=/g/%d>Spade %c: %d €</a></li>", i, 'a'+i, 20+n>>i&1)
		},
		"stock": func(n, i int) string {
			if n>>i&1 == 0 {
				return ""
			}
			return fmt.Sprintf("<li><a href=/g/%d>Spade %c%c</a></li>", i, 'a'+i, 'z'-i)
		},
	} {
		most := 1 // of twelve entries that change at a visit
		if name == "stock" {
			most = 4
		}
		random, at := rand.New(rand.NewPCG(3, 4)), 0
		build := func() string {
			for range 1 + random.IntN(most) {
				at ^= 1 << random.IntN(12)
			}
			var b strings.Builder
			for i := range 12 {
				b.WriteString(entry(at|1<<12, i))
			}
			b.WriteString(entry(1<<12, 12) + entry(1<<13, 13))
			return list(b.String())
		}
		w, missed := &watcher{memory: &PageMemory{}, before: read(t, build()), day: 1}, 0
		for range 120 {
			if v := w.sees(t, build()); v.Kind != Change {
				missed++
			}
		}
		if missed > 2 { // where two are the same, it is none
			t.Errorf("%s: of 120 changes %d were taken for what keeps changing", name, missed)
		}
	}
}
