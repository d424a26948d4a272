package content

import (
	"testing"
	"time"
)

// TestWhatIsPinnedStaysPinned holds that what a person pinned is forgotten by no time in which nothing showed it.
func TestWhatIsPinnedStaysPinned(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"short": maintenance, "plain": plainShort, "log-in": logIn} {
		s, after := newStay(t, &HostMemory{}, 1), read(t, text)
		own := s.held
		s.sees(after, noon, time.Time{})
		noise := s.host.Noise()
		if len(noise) != 1 {
			t.Fatalf("%s: the host's noise is %v", name, noise)
		}
		s.orders = &Orders{}
		s.orders.Set(Order{Key: noise[0].Key, Noise: true, At: noon})
		s.held = own
		s.sees(own, noon.Add(24*time.Hour), time.Time{})
		for day := 80; day < 160; day++ {
			at := noon.Add(time.Duration(day) * 24 * time.Hour)
			if v := s.sees(after, at, at.Add(-time.Hour)); v.Kind != Transient {
				t.Errorf("%s: what a person pinned is %v on day %d", name, v.Kind, day)
				break
			}
		}
	}
}
