package recrawl

import (
	"bytes"
	"testing"

	"recrawld/recrawl/sitemap"
)

// A packed list counts by what it may come to, so that as many of them as there are processors do not fill the memory.
func TestPackedListsCountByWhatTheyMayHold(t *testing.T) {
	t.Parallel()
	plain := bytes.Repeat([]byte("x"), 300<<10)
	gz := append(bytes.Clone(gzipMagic), plain...)
	if got := listBytes(plain); got != len(plain) {
		t.Errorf("a plain list of %d bytes counts as %d", len(plain), got)
	}
	if got, want := listBytes(gz), sitemap.MaxBytes/listShare; got < want*99/100 || got > want {
		t.Errorf("a packed list of %d bytes counts as %d, want about %d", len(gz), got, want)
	}
	if got, want := listBytes(gz[:1000]), 1000*unpacks/listShare; got != want {
		t.Errorf("a packed list of 1000 bytes counts as %d, want %d", got, want)
	}
	if got := listBytes(append(bytes.Clone(gzipMagic), make([]byte, 8<<20)...)); got != 8<<20+2 {
		t.Errorf("a packed list of 8 MiB counts as %d, want no less than its own length", got)
	}
}
