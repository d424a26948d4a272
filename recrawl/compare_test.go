package recrawl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/canon"
)

// linked is a page of running text with a link.
func linked(n int) string { return edition(n) + `<a href=/one>1</a><script>one</script>` }

// TestLadder: the rungs below the comparison decide without looking up what is kept.
func TestLadder(t *testing.T) {
	t.Parallel()
	body := linked(1)
	for name, test := range map[string]struct {
		next string
		kind models.OutcomeKind
		why  models.Reasons
		look bool
	}{
		"same bytes": {body, models.SameBytes, 0, false},
		"same text":  {strings.Replace(body, "<script>one", "<script>two", 1), models.SameText, 0, false},
		"tracking":   {strings.Replace(body, "/one", "/one?utm_source=there", 1), models.SameText, 0, false},
		"other text": {strings.Replace(body, "is due", "was due", 1), models.Changed, models.ReasonText, true},
	} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Then(page(body), page(test.next))})
		l := newLife(t, nil)
		wantKind(t, l.turn(o.URL("/")), models.First)
		out := l.turn(o.URL("/"))
		wantKind(t, out, test.kind)
		if out.Reasons&test.why != test.why || test.why == 0 && out.Reasons != 0 {
			t.Errorf("%s: reasons %v, want %v", name, out.Reasons, test.why)
		}
		if (l.past.asked > 0) != test.look {
			t.Errorf("%s: the kept body was read %d times", name, l.past.asked)
		}
	}
}

// amnesiac is a past whose memories cannot be read any more.
type amnesiac struct{ *kept }

func (amnesiac) Memory(context.Context, int16, int64, int64) ([]byte, error) {
	return nil, errors.New("no database")
}

// TestMemoryThatCannotBeReadIsNotReplaced: what a visit saw is little beside what many did.
func TestMemoryThatCannotBeReadIsNotReplaced(t *testing.T) {
	t.Parallel()
	page := func(n int) hostile.Answer {
		return hostile.Whole(200, map[string]string{"Content-Type": "text/html"}, fmt.Sprintf("<p>What is said here, and that at some length, is said for time %d", n))
	}
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(page(1), page(2), page(3))})
	l := newLife(t, nil)
	l.turn(o.URL("/"))
	if out := l.turn(o.URL("/")); len(out.Memory) == 0 {
		t.Fatal("nothing is remembered of a change")
	}
	l.Visitor.past = amnesiac{l.past}
	out := l.turn(o.URL("/"))
	wantKind(t, out, models.Changed)
	if out.Memory != nil || out.HostMemory != nil {
		t.Errorf("%d and %d bytes are written over what could not be read", len(out.Memory), len(out.HostMemory))
	}
}

// TestLadderWithoutContent: where the copy cannot be had, the prints of text and links decide; where the comparison came
// to nothing, the bytes do.
func TestLadderWithoutContent(t *testing.T) {
	t.Parallel()
	const text, links, whole = models.ReasonText, models.ReasonLinkTarget, models.ReasonBytes
	for name, test := range map[string]struct {
		edit        func(*Config)
		lose        func(*kept)
		text, links models.Reasons
	}{
		"nothing is kept":   {edit: func(c *Config) { c.Past = nil }, text: text, links: links},
		"the body is not":   {lose: func(k *kept) { clear(k.bodies) }, text: text, links: links},
		"it cannot be read": {lose: func(k *kept) { k.fault = errors.New("no disk") }, text: text, links: links},
		"it takes too long": {edit: func(c *Config) { c.Limits.Compare = 1 }, text: whole, links: whole},
	} {
		for next, want := range map[string]models.Reasons{
			strings.Replace(linked(1), "is due", "was due", 1): test.text,
			strings.Replace(linked(1), "/one", "/two", 1):      test.links,
		} {
			o := listen(t, map[string]hostile.Answer{"/": hostile.Then(page(linked(1)), page(next))})
			l := newLife(t, func(c *Config, _ *config.Settings) {
				if test.edit != nil {
					test.edit(c)
				}
			})
			l.turn(o.URL("/"))
			if test.lose != nil {
				test.lose(l.past)
			}
			out := l.turn(o.URL("/"))
			wantKind(t, out, models.Changed)
			if out.Reasons != want || out.Significance != 1 {
				t.Errorf("%s: reasons %v, significance %v, want %v and 1", name, out.Reasons, out.Significance, want)
			}
		}
	}
}

// TestWhatIsNoText is compared by its bytes alone.
func TestWhatIsNoText(t *testing.T) {
	t.Parallel()
	for _, media := range []string{"image/png", "application/pdf", "application/octet-stream", "video/mp4", "font/woff2"} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Then(
			page("\x89PNG\x00\x01 one", "Content-Type", media), page("\x89PNG\x00\x01 two", "Content-Type", media))})
		l := newLife(t, nil)
		l.turn(o.URL("/"))
		out := l.turn(o.URL("/"))
		wantKind(t, out, models.Changed)
		if out.Reasons != models.ReasonBytes || out.Significance != 1 || l.past.asked != 0 {
			t.Errorf("%s: reasons %v, significance %v, %d bodies read", media, out.Reasons, out.Significance, l.past.asked)
		}
	}
}

// TestServersThatAreBehind: what one of several servers answers that has not got the last edition yet is no news, and neither is that
// edition when it comes again.
func TestServersThatAreBehind(t *testing.T) {
	t.Parallel()
	old, held := page(linked(1), "Last-Modified", day(-2)), page(linked(2), "Last-Modified", day(-1))
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(old, held, old, held)})
	l := newLife(t, nil)
	wantKind(t, l.turn(o.URL("/")), models.First)
	wantKind(t, l.turn(o.URL("/")), models.Changed)
	wantFailed(t, l.turn(o.URL("/")), models.OlderCopy)
	wantKind(t, l.turn(o.URL("/")), models.SameBytes)
}

// TestMadeAnew: a file that its server makes for each request changes with what is in it.
func TestMadeAnew(t *testing.T) {
	t.Parallel()
	for kind, made := range map[string]func(text string, day byte) string{
		"application/gzip": func(text string, day byte) string {
			body := []byte(hostile.Gzipped(text))
			body[4] = day // of the time at which it was packed
			return string(body)
		},
		"application/pdf": func(text string, day byte) string {
			return fmt.Sprintf("%%PDF-1.4\n1 0 obj<</Pages 2 0 R>>endobj 2 0 obj(%s)endobj 3 0 obj<</CreationDate(%d)>>endobj\ntrailer<</Root 1 0 R/Info 3 0 R>>", text, day)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			at := func(text string, day byte) hostile.Answer { return page(made(text, day), "Content-Type", kind) }
			o := listen(t, map[string]hostile.Answer{"/": hostile.Then(at("one", 1), at("one", 2), at("two", 3))})
			l := newLife(t, nil)
			wantKind(t, l.turn(o.URL("/")), models.First)
			wantKind(t, l.turn(o.URL("/")), models.Noise)
			out := l.turn(o.URL("/"))
			wantKind(t, out, models.Changed)
			if out.Reasons != models.ReasonBytes || out.Significance != 1 {
				t.Errorf("another content: reasons %v, significance %v", out.Reasons, out.Significance)
			}
		})
	}
}

// TestAPDFByItsText: what a PDF says is compared, where it is not the same document.
func TestAPDFByItsText(t *testing.T) {
	t.Parallel()
	says := func(text string) hostile.Answer {
		return page("%PDF-1.4\n1 0 obj<</Pages 2 0 R>>endobj 2 0 obj<</Resources<</Font<</F<<>>>>>>/Contents 3 0 R>>endobj\n"+
			"3 0 obj<<>>stream\nBT /F 9 Tf ("+text+") Tj ET\nendstream endobj trailer<</Root 1 0 R>>", "Content-Type", "application/pdf")
	}
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(says("Made at 12:31:05"), says("Made at 17:02:44"), says("Nuts are sold out"))})
	l := newLife(t, nil)
	wantKind(t, l.turn(o.URL("/")), models.First)
	if out := l.turn(o.URL("/")); out.Kind != models.Noise || out.Reasons&models.ReasonDateOnly == 0 {
		t.Errorf("another time: %v for %v, want noise for date-only", out.Kind, out.Reasons)
	}
	if out := l.turn(o.URL("/")); out.Kind != models.Changed || out.Reasons&models.ReasonText == 0 {
		t.Errorf("another text: %v for %v, want a change of the text", out.Kind, out.Reasons)
	}
}

// TestEveryChangeCounts where the threshold is 0: also what the comparison finds to be noise.
func TestEveryChangeCounts(t *testing.T) {
	t.Parallel()
	at := func(hour string) hostile.Answer {
		return page(strings.Replace(linked(1), "<a href", "<footer><p>It is "+hour+":00 now</p></footer><a href", 1))
	}
	for threshold, want := range map[float64]models.OutcomeKind{0: models.Changed, 0.5: models.Noise} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Then(at("11"), at("12"))})
		l := newLife(t, func(_ *Config, s *config.Settings) { s.Significance = threshold })
		l.turn(o.URL("/"))
		out := l.turn(o.URL("/"))
		if out.Kind != want {
			t.Errorf("threshold %v: %v, want %v", threshold, out.Kind, want)
		}
	}
}

func testComparer(t *testing.T, limit time.Duration) (*comparer, *bytes.Buffer, canon.URL) {
	t.Helper()
	var logged bytes.Buffer
	at, err := canon.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	return newComparer(limit, slog.New(slog.NewTextHandler(&logged, nil))), &logged, at
}

// TestFault_080_PanicInAComparison: it is contained, said once with its stack, and takes no slot with it.
func TestFault_080_PanicInAComparison(t *testing.T) {
	t.Parallel()
	c, logged, at := testComparer(t, time.Minute)
	for range 3 * runtime.GOMAXPROCS(0) {
		if err := c.run(t.Context(), at, 1, func(context.Context) error { panic("a bug of ours") }); !errors.Is(err, errComparePanic) {
			t.Fatalf("a panic is %v", err)
		}
	}
	if n := strings.Count(logged.String(), "a bug of ours"); n != 1 || !strings.Contains(logged.String(), "goroutine") {
		t.Errorf("%d panics are logged: %s", n, logged)
	}
}

// TestComparisonsAreBounded: one that takes too long is left behind but keeps its slot, so that the machine is never
// asked for more; who finds no slot waits no longer than its own visit.
func TestComparisonsAreBounded(t *testing.T) {
	t.Parallel()
	c, _, at := testComparer(t, time.Millisecond)
	release := make(chan struct{})
	for range runtime.GOMAXPROCS(0) {
		if err := c.run(t.Context(), at, 1, func(context.Context) error { <-release; return nil }); !errors.Is(err, errCompareSlow) {
			t.Fatalf("a slow comparison is %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.run(ctx, at, 1, func(context.Context) error { t.Error("there was a slot left"); return nil }); !errors.Is(err, errCompareBusy) {
		t.Errorf("without a slot it is %v", err)
	}
	close(release)
	if err := c.room.Acquire(t.Context(), compareHeld); err != nil { // all of it can be had again
		t.Error(err)
	}
}

// TestLargeBodies: two of the largest that are compared at all take all the room; of larger ones the bytes decide.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	c, _, at := testComparer(t, time.Minute)
	for _, bytes := range []int{2 * compareBytes, 1 << 40} {
		err := c.run(t.Context(), at, bytes, func(context.Context) error {
			if c.room.TryAcquire(1) {
				t.Error("there is room beside it")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(page(linked(1)), page(linked(2)))})
	l := newLife(t, nil)
	l.turn(o.URL("/"))
	grown := l.pages[o.URL("/")]
	grown.Bytes = compareBytes + 1
	l.pages[o.URL("/")] = grown
	if out := l.turn(o.URL("/")); out.Kind != models.Changed || out.Reasons != models.ReasonBytes || l.past.asked != 0 {
		t.Errorf("%v for %v, %d bodies read", out.Kind, out.Reasons, l.past.asked)
	}
}

// TestInterruptedComparison: a visit that is interrupted while it compares is interrupted, and has found no change.
func TestInterruptedComparison(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(page(linked(1)), page(linked(2)))})
	l := newLife(t, nil)
	l.turn(o.URL("/"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l.past.reading = cancel
	page := l.pages[o.URL("/")]
	row := allowAll(t, page)
	row.ExpiresAt = models.At(l.clock.Now().Add(time.Hour))
	out := l.Visit(ctx, models.Turn{Robots: []models.Robots{row}, Page: models.LeasedPage{Page: page}, Now: l.clock.Now()})
	wantKind(t, out, models.Interrupted)
	if out.Body != nil || !out.Digest.IsZero() {
		t.Errorf("an interrupted visit left a body of %d bytes", len(out.Body))
	}
}
