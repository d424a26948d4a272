package main

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"hash"
	"net/http"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/report"
	"recrawld/web"
)

// Intends implements web.Subscriber: the hub may do what it was asked for and not more, once or again.
func (w *websub) Intends(ctx context.Context, path string, i web.Intent) (bool, error) {
	if s, err := w.subscriptionAt(ctx, path); errors.Is(err, models.ErrNotFound) || err == nil && s.Topic != i.Topic {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if !w.paced("?"+path, clock.System{}.Now()) {
		return false, web.Refusal{Status: http.StatusTooManyRequests, Err: errors.New("asked too often")}
	}
	now, meant := w.clock.Now(), false
	lease := min(cmp.Or(i.Lease, w.force().config.WebSub.Lease), w.force().config.WebSub.Lease)
	one, _, err := w.store.ChangeSubscription(ctx, path, func(s *models.Subscription) bool {
		asked := i.Mode != "" && s.Mode == i.Mode && now.Sub(s.AskedAt.Time()).Abs() <= w.clock.Real(confirmWithin)
		meant = s.URL != "" && (i.Mode == "denied" || asked && (i.Mode == models.Unsubscribing || w.wanted(s, now)))
		switch {
		case !meant:
			return false
		case i.Mode == "denied":
			s.Until, s.Mode, s.DeniedAt, s.Asked = 0, "", models.At(now), 0
			s.NextAt = models.At(now.Add(w.clock.Real(deniedFor)))
			s.Error = strings.TrimSuffix("the hub denied it: "+report.Printable(cut(i.Reason, 200)), ": ")
		case i.Mode == models.Unsubscribing:
			s.Until, s.Error = 0, ""
		default:
			s.Until, s.DeniedAt, s.Error, s.Asked = models.At(now.Add(w.clock.Real(lease))), 0, "", 0
			s.NextAt = models.At(now.Add(w.clock.Real(renewAfter(path, lease, now))))
		}
		return true
	})
	if err == nil && meant {
		w.log.Debug("a hub says what it does", "hub", one.Hub, "feed", one.URL, "mode", i.Mode, "lease", lease)
	}
	return meant, err
}

// cut is the beginning of a text.
func cut(text string, most int) string { return strings.ToValidUTF8(text[:min(len(text), most)], "") }

// renewAfter is when a lease is renewed: when between three quarters and nine tenths of it are over, each time otherwise.
func renewAfter(path string, lease time.Duration, now time.Time) time.Duration {
	return max(lease*3/4+varied(path, int(now.Unix()), lease*3/20), renewLeast)
}

// The pace at which a hub may tell of one feed, and say what it does; machine time.
const (
	pushesIn   = time.Minute
	mostPushes = 10
)

// pushPace counts what was told at a path, or asked at one behind a "?".
type pushPace struct {
	began time.Time
	n     int
}

// paced counts a push of a path, and tells whether it is not too many.
func (w *websub) paced(path string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.paces[path]
	if now.Sub(p.began).Abs() >= pushesIn {
		p = pushPace{began: now}
		if len(w.paces) > 2*mostSubscriptions { // of what was forgotten
			clear(w.paces)
		}
	}
	p.n++
	w.paces[path] = p
	return p.n <= mostPushes
}

// Expects implements web.Subscriber.
func (w *websub) Expects(ctx context.Context, path string) error {
	s, err := w.subscriptionAt(ctx, path)
	now := w.clock.Now()
	refused := web.Refusal{Status: http.StatusNotFound, Err: errNoPath}
	switch {
	case err != nil && !errors.Is(err, models.ErrNotFound):
		return err
	case err != nil, s.DeniedAt != 0, s.Until == 0 && s.Mode != models.Unsubscribing:
	case s.Mode == models.Unsubscribing, !w.wanted(&s, now), !s.Verified(models.At(now)):
		refused.Status = http.StatusGone
	case !w.paced(path, clock.System{}.Now()):
		refused = web.Refusal{Status: http.StatusTooManyRequests, Err: errors.New("too often: the feed is read when its turn comes")}
	default:
		return nil
	}
	w.counts.WithLabelValues("refused").Inc()
	return refused
}

// Hear implements web.Subscriber. What is not signed with our secret is taken and does nothing, as WebSub has it (section 7.1): whoever sends
// it learns nothing.
func (w *websub) Hear(ctx context.Context, path string, p web.Push) error {
	secret, err := w.secretOf(ctx, path)
	if err != nil {
		return err
	}
	if !signedWith(secret, p) {
		w.counts.WithLabelValues("forged").Inc()
		one, _, err := w.store.ChangeSubscription(ctx, path, func(s *models.Subscription) bool { s.Forged++; return s.URL != "" })
		w.log.Debug("a push is not signed by its hub", "hub", one.Hub, "feed", one.URL)
		return err
	}
	select {
	case w.heard <- waitingPush{path, p.Body}:
		return nil
	default:
		w.counts.WithLabelValues("refused").Inc()
		return web.Refusal{Status: http.StatusServiceUnavailable, Err: errors.New("others are heard first")}
	}
}

// signers are the methods of X-Hub-Signature.
var signers = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

// signedWith tells whether a push is signed with a secret. How long that takes says nothing of the signature.
func signedWith(secret string, p web.Push) bool {
	method, text, _ := strings.Cut(strings.TrimSpace(p.Signature), "=")
	signer, known := signers[strings.ToLower(method)]
	shown, err := hex.DecodeString(text)
	if !known || err != nil {
		return false
	}
	mac := hmac.New(signer, []byte(secret))
	mac.Write(p.Body)
	return hmac.Equal(shown, mac.Sum(nil))
}
