package archive

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

func openRecent(t *testing.T, bytes int64) *Archive {
	t.Helper()
	o := testOptions()
	o.Recent = bytes
	return open(t, t.TempDir(), o)
}

func TestTakeReturnsWhatReadReturns(t *testing.T) {
	t.Parallel()
	a := openRecent(t, 1<<20)
	plain := capture("http://example.org/", "<html>\r\n\r\nüñ\x00\xff</html>")
	empty := capture("http://example.org/empty", "")
	bare := models.Capture{URL: "http://example.org/bare", Outcome: models.Outcome{At: noon, Status: 200, Body: []byte("bare")}}
	odd := capture("http://example.org/odd", "odd")
	odd.Outcome.Proto, odd.Outcome.Header = "HTTP/2.0", []byte("\r\nA: b\n\n\nC: d")
	odd.Outcome.At = noon.Add(1234567 * time.Nanosecond)
	for _, c := range []models.Capture{plain, empty, bare, odd} {
		at := appendOne(t, a, c)
		want, err := a.Read(at)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := a.Take(at)
		if !ok {
			t.Fatalf("%s is not held", c.URL)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("Take of %s differs from Read (-want +got):\n%s", c.URL, d)
		}
		if _, ok := a.Take(at); ok {
			t.Errorf("%s is held after it was taken", c.URL)
		}
	}
}

func TestOnlyFirstRecordsAreHeldAndOnlyOnDemand(t *testing.T) {
	t.Parallel()
	a := openRecent(t, 1<<20)
	c := capture("http://example.org/", "body")
	first := appendOne(t, a, c)
	again := c
	again.Seen = &models.Content{Digest: c.Outcome.Digest, Record: first, URL: c.URL, At: models.At(c.Outcome.At)}
	appendOne(t, a, again)
	if n := len(a.recent.held); n != 1 {
		t.Errorf("%d answers are held after a body and its repetition, want 1", n)
	}
	off := open(t, t.TempDir(), testOptions())
	if _, ok := off.Take(appendOne(t, off, c)); ok {
		t.Error("an archive without Options.Recent holds an answer")
	}
}

func TestHeldBytesAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	a := openRecent(t, limit)
	var records []models.Record
	add := func() models.Record {
		c := capture(fmt.Sprintf("http://example.org/%d", len(records)), string(bytes.Repeat([]byte{byte(len(records))}, 5<<10)))
		records = append(records, appendOne(t, a, c))
		if a.recent.bytes > limit {
			t.Fatalf("%d bytes are held, want %d at most", a.recent.bytes, limit)
		}
		return records[len(records)-1]
	}
	for range 20 {
		add()
	}
	if _, ok := a.Take(records[19]); ok {
		t.Error("the last of more than there is room for is held, want the first ones")
	}
	if got, ok := a.Take(records[0]); !ok || !bytes.Equal(got.Body, make([]byte, 5<<10)) {
		t.Errorf("the first one is held: %v, want its body", ok)
	}
	if at := add(); !a.recent.has(at) {
		t.Error("what was taken left no room")
	}
	for range 200 { // nobody takes any more
		add()
	}
	if a.recent.has(records[1]) {
		t.Error("an answer that nobody takes is held for ever")
	}
	if len(a.recent.held) == 0 || len(a.recent.order) > 50 {
		t.Errorf("%d answers are held and %d in order, want some and few", len(a.recent.held), len(a.recent.order))
	}
	huge := capture("http://example.org/huge", string(make([]byte, limit)))
	if at := appendOne(t, a, huge); a.recent.has(at) {
		t.Error("an answer larger than the bound is held")
	}
}

// What is held of a small body is small, though it was read into much room.
func TestASmallAnswerHoldsNoLargeRoom(t *testing.T) {
	t.Parallel()
	c := capture("http://example.org/", "")
	c.Outcome.Body = append(make([]byte, 0, 1<<20), "small"...)
	if got := held(c); string(got.Body) != "small" || cap(got.Body) > heldOverhead {
		t.Errorf("held = %q in %d bytes of room, want small in little", got.Body, cap(got.Body))
	}
}

func (r *recent) has(at models.Record) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[at] != nil
}
