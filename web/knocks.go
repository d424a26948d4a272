package web

import (
	"log/slog"
	"sync"
	"time"
)

// toldEvery is how often the log is told of who is not let in, at most.
const toldEvery = time.Minute

// knocks tells the log of requests that show a wrong token, or ask for more than what they show lets them, a line a minute at most. They are
// not held up: all come from this machine, so whoever tries tokens would hold up those who have the right one, and nobody comes upon
// 128 random bits by trying.
type knocks struct {
	log   *slog.Logger
	clock Clock

	mu     sync.Mutex // guards what is below
	wrong  int        // tokens, since the last line
	beyond int        // what a browser or a feed reader may do
	toldAt time.Time
}

// note counts a request that was refused; right: with the token.
func (k *knocks) note(right bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if right {
		k.beyond++
	} else {
		k.wrong++
	}
	if now := k.clock.Now(); now.Sub(k.toldAt) >= toldEvery || now.Before(k.toldAt) {
		k.log.Warn("requests were refused", slog.Int("with_a_wrong_token", k.wrong), slog.Int("beyond_what_theirs_allows", k.beyond))
		k.wrong, k.beyond, k.toldAt = 0, 0, now
	}
}
