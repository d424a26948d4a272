package content

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// goods is a page of a shop about one of its products.
func goods(product int, price, stock string) string {
	title := fmt.Sprintf("Lamp %c", 'A'+product)
	return editedPage(title, "<p>"+title+": "+strings.Join(story(4), "<p>"+title+": ")+"<h2>"+price+"</h2><p>Ex Tax: "+price+"</p><div>Availability: "+stock, "<p>x")
}

// shelf is a host on which products are visited, one after the other.
type shelf struct {
	t        *testing.T
	host     *HostMemory
	memories map[int]*PageMemory
	at       time.Time
}

func (s *shelf) visit(product int, after time.Duration, before, now string) Verdict {
	s.t.Helper()
	if s.memories[product] == nil {
		s.memories[product] = &PageMemory{}
	}
	s.at = s.at.Add(time.Minute)
	s.host = DecodeHost(s.host.Encode())
	s.memories[product] = DecodePage(s.memories[product].Encode())
	return Judge(Case{Before: read(s.t, before), After: read(s.t, now), Page: s.memories[product], Host: s.host, Threshold: threshold,
		Now: s.at, Held: s.at.Add(-after), PageID: int64(product + 1)})
}

// TestAPriceOfEachDayCounts: a price that is another one on each day is news on each of them, and is none of the reasons to pass over the price of
// another product. Of four whose price changed daily it was learned as a place that keeps changing, on all pages of the shop.
func TestAPriceOfEachDayCounts(t *testing.T) {
	t.Parallel()
	s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
	price := func(n int) string { return fmt.Sprintf("$%d.99", 100+n) }
	for day := range 30 {
		s.at = noon.AddDate(0, 0, day)
		for product := range 4 {
			if v := s.visit(product, 24*time.Hour, goods(product, price(4*day+product), "In Stock"), goods(product, price(4*day+product+4), "In Stock")); v.Kind != Change {
				t.Fatalf("day %d of product %d is %v for %v", day, product, v.Kind, v.Reasons)
			}
		}
	}
	if v := s.visit(7, 24*time.Hour, goods(7, "$12", "In Stock"), goods(7, "$13", "In Stock")); v.Kind != Change {
		t.Errorf("another product's is %v for %v", v.Kind, v.Reasons)
	}
	if noise := s.host.Noise(); len(noise) > 0 {
		t.Errorf("noise of the host: %v", noise)
	}
}

// long is a page about a product whose description is nearly all of what the page says, so that its price stands apart from that.
func long(product int, price, stock string) string {
	title := fmt.Sprintf("Lamp %c", 'A'+product)
	return "<html><head><title>" + title + "</title></head><body><main><div class=col><h1>" + title + "</h1><ul><li>Brand: Aldous<li><div class=stock>" + stock +
		"</div></ul><h2>" + price + "</h2></div><div class=tab><p>" + title + ": " + strings.Join(story(12), "<p>"+title+": ") + "</div></main></body></html>"
}

// TestAPriceBesideALongDescriptionCounts: the third change of a price or a state in the lifetime of a product was none, as of what stands beside the
// content; that is what is in the page's main element as well, but for its asides.
func TestAPriceBesideALongDescriptionCounts(t *testing.T) {
	t.Parallel()
	s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
	states := []string{"In Stock", "Out Of Stock", "Pre-Order", "2-3 Days", "In a week"}
	for n := range 5 {
		s.at = noon.AddDate(0, 0, 2*n)
		before, after := fmt.Sprintf("$%d.99", 100+n), fmt.Sprintf("$%d.99", 101+n)
		if v := s.visit(0, 24*time.Hour, long(0, before, "In Stock"), long(0, after, "In Stock")); v.Kind != Change || v.Blocks[0].Main {
			t.Errorf("change %d of the price is %v for %v, %+v", n, v.Kind, v.Reasons, v.Blocks[0])
		}
		if v := s.visit(1, 24*time.Hour, long(1, "$9", states[n]), long(1, "$9", states[(n+1)%5])); v.Kind != Change || v.Blocks[0].Main {
			t.Errorf("change %d of the state is %v for %v, %+v", n, v.Kind, v.Reasons, v.Blocks[0])
		}
	}
}

// TestARateOfEachHourIsLearned: what is another amount at each visit, an hour after the one before, is a rate that nobody waits for.
func TestARateOfEachHourIsLearned(t *testing.T) {
	t.Parallel()
	s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
	var v Verdict
	for n := range 12 {
		s.at = noon.Add(time.Duration(n) * time.Hour)
		v = s.visit(0, time.Hour, goods(0, fmt.Sprintf("$64,%d", 100+n), "In Stock"), goods(0, fmt.Sprintf("$64,%d", 101+n), "In Stock"))
	}
	if v.Kind != Noise {
		t.Errorf("after twelve hours it is %v for %v", v.Kind, v.Reasons)
	}
}

// TestAmountsApartFromThePage: a rate in the head of a page and the amount in a cart are no prices of what it is about, and neither are those of other
// entries of a list: learned as what keeps changing, as they were before prices counted each day.
func TestAmountsApartFromThePage(t *testing.T) {
	t.Parallel()
	text := strings.Join(story(8), "<p>")
	for name, of := range map[string]func(n int) string{
		"a rate in the head": func(n int) string {
			return fmt.Sprintf("<div>BTC $64,%d</div><main><h1>News</h1><p>%s</main>", 100+n, text)
		},
		"a rate without a main element": func(n int) string {
			return fmt.Sprintf("<div>BTC $64,%d</div><div><h1>News</h1><p>%s</div>", 100+n, text)
		},
		"a cart": func(n int) string {
			return fmt.Sprintf("<div><a href=/cart>1 item(s) - $%d.00</a></div><main><h1>News</h1><p>%s</main>", 100+n, text)
		},
		"other lamps": func(n int) string {
			return fmt.Sprintf("<main><div><h1>Lamps</h1><p>%s</div><div><h4><a href=/%d>Lamp %d</a></h4><p>$%d</p></div><div><h4><a href=/%d>Lamp %d</a></h4><p>$%d</p></div></main>",
				text, n, n, n+10, n+500, n+500, n+710)
		},
		"other lamps in lines": func(n int) string {
			return fmt.Sprintf("<main><p>%s<ul><li><a href=/%d>Lamp %d</a> $%d<li><a href=/%d>Lamp %d</a> $%d</ul></main>", text, n, n, n+10, n+500, n+500, n+710)
		},
	} {
		s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
		page := func(n int) string { return "<html><head><title>A</title></head><body>" + of(n) + "</body></html>" }
		var v Verdict
		for day := range 12 {
			s.at = noon.AddDate(0, 0, day)
			v = s.visit(0, 24*time.Hour, page(day), page(day+1))
		}
		if v.Kind != Noise {
			t.Errorf("%s is %v for %v after twelve days: %+v", name, v.Kind, v.Reasons, v.Blocks)
		}
	}
}

// TestAPriceApartFromTheTextCounts: a page without a main element has its price apart from its text, and changes it every second week.
func TestAPriceApartFromTheTextCounts(t *testing.T) {
	t.Parallel()
	s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
	page := func(n int) string {
		return fmt.Sprintf("<html><head><title>Lamp</title></head><body><div><h2>$%d.99</h2></div><div><h1>Lamp</h1><p>%s</div></body></html>", 100+n, strings.Join(story(12), "<p>"))
	}
	for n := range 10 {
		s.at = noon.AddDate(0, 0, 14*n)
		if v := s.visit(0, 24*time.Hour, page(n), page(n+1)); v.Kind != Change {
			t.Errorf("change %d is %v for %v", n, v.Kind, v.Reasons)
		}
		for day := range 13 {
			s.at = noon.AddDate(0, 0, 14*n+1+day)
			s.visit(0, 24*time.Hour, page(n+1), page(n+1)+"<!-- another token -->")
		}
	}
}

// TestWhatOftenChangesOnSomePages: a state that is another one at most visits of some products is not passed over on a page where it stood.
func TestWhatOftenChangesOnSomePages(t *testing.T) {
	t.Parallel()
	s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
	states := []string{"In Stock", "Out Of Stock"}
	for day := range 20 {
		s.at = noon.AddDate(0, 0, 2*day)
		for product := range 4 {
			s.visit(product, 48*time.Hour, goods(product, "$9", states[day%2]), goods(product, "$9", states[(day+1)%2]))
		}
	}
	s.at = noon.AddDate(0, 0, 60)
	if v := s.visit(7, 48*time.Hour, goods(7, "$9", "In Stock"), goods(7, "$9", "Out Of Stock")); v.Kind != Change {
		t.Errorf("another product's is %v for %v; noise is %v", v.Kind, v.Reasons, s.host.Noise())
	}
}

// TestManySellOut: products that sell out on one day are each news where others, seen meanwhile, say what these said before: so it is none of the shop's
// own texts. Where none says that any more it is one of those.
func TestManySellOut(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]int{"others are there": 20, "there are none": 0} {
		s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
		changes, withdrawn := 0, 0
		for product := range 16 {
			if v := s.visit(product, 24*time.Hour, goods(product, "$9", "In Stock"), goods(product, "$9", "Out Of Stock")); v.Kind == Change {
				changes++
			}
			if product < others {
				s.visit(30+product, 24*time.Hour, goods(30+product, "$9", "In Stock"), goods(30+product, "$9", "In Stock")+"<!-- another token -->")
			}
		}
		for product := range 16 {
			if s.host.Withdraw(int64(product + 1)) {
				withdrawn++
			}
		}
		if want := map[bool]int{true: 16, false: flipOwn}[others > 0]; changes != want || (withdrawn > 0) != (others == 0) {
			t.Errorf("%s: %d changes, %d of them taken back; want %d", name, changes, withdrawn, want)
		}
	}
}

// TestTheShopsWordForItIsAnother: what products have been seen to say while others sold out is no reason to take it for theirs where the shop calls it
// something else, on all of them: that was news on each page until those that had been seen had been visited again.
func TestTheShopsWordForItIsAnother(t *testing.T) {
	t.Parallel()
	s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
	for product := range 4 {
		s.visit(product, 24*time.Hour, goods(product, "$9", "In Stock"), goods(product, "$9", "Out Of Stock"))
		s.visit(30+product, 24*time.Hour, goods(30+product, "$9", "In Stock"), goods(30+product, "$9", "In Stock")+"<!-- another token -->")
	}
	changes := 0
	for product := 10; product < 30; product++ {
		if v := s.visit(product, 24*time.Hour, goods(product, "$9", "In Stock"), goods(product, "$9", "Available")); v.Kind == Change {
			changes++
		}
	}
	if want := flipOwn; changes != want {
		t.Errorf("%d of 20 pages changed, want %d", changes, want)
	}
}

// TestWhatWentLongAgoIsNotAwaited: each page that was as ever was read for what went from others, however long ago, until something else on the host changed.
func TestWhatWentLongAgoIsNotAwaited(t *testing.T) {
	t.Parallel()
	s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
	for product := range enoughStays {
		s.visit(product, 24*time.Hour, goods(product, "$9", "In Stock"), goods(product, "$9", "Out Of Stock"))
	}
	for after, want := range map[time.Duration]bool{time.Minute: true, 25 * time.Hour: false} {
		now := s.at.Add(after).Unix()
		if got := s.host.Awaits(now); got != want {
			t.Errorf("after %v Awaits = %v, want %v", after, got, want)
		}
		h := DecodeHost(s.host.Encode())
		if got := h.Stays(read(t, goods(9, "$9", "In Stock")), 10, now); got != want {
			t.Errorf("after %v Stays = %v, want %v", after, got, want)
		}
	}
}

// TestWhatIsMeasuredIsNoPrice: numbers in the same words that keep changing on some pages of a host, as those of a status page do, are noise on the others
// from their first change on. What prices are spared made each such page learn it by itself, and one whose numbers changed at half of its visits never did.
func TestWhatIsMeasuredIsNoPrice(t *testing.T) {
	t.Parallel()
	s := shelf{t: t, host: &HostMemory{}, memories: map[int]*PageMemory{}, at: noon}
	status := func(service, n int) string {
		name := fmt.Sprintf("Service %c", 'A'+service)
		return "<html><head><title>" + name + "</title></head><body><main><h1>" + name + "</h1><p>" + name +
			fmt.Sprintf(" answers on %d nodes; the slowest took %d ms in the last hours.</main></body></html>", 3+n%4, 40+7*n%50)
	}
	for day := range 20 {
		s.at = noon.AddDate(0, 0, day)
		for service := range 4 {
			s.visit(service, 24*time.Hour, status(service, day), status(service, day+1))
		}
	}
	if v := s.visit(7, 24*time.Hour, status(7, 1), status(7, 2)); v.Kind == Change {
		t.Errorf("another page's first is %v for %v", v.Kind, v.Reasons)
	}
}
