package recrawl

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
)

// probeName begins the name that is asked for: whoever finds it in a log can tell who asks, and that it is no page.
const probeName = "recrawld-probe-"

// probeLetters is the number of random letters in that name.
const probeLetters = 24

// probed spends the visit on a name that does not exist, where it is time to see how the host answers to one: many
// answer 200, and their pages that went can be told by that answer alone. The page's own turn comes next.
func (s *visit) probed(ctx context.Context) bool {
	if !s.probeDue(s.turn.Host.Trials.ProbedAt) {
		return false
	}
	target, ok := s.probeTarget()
	if !ok || !s.mayAsk(s.rules.of(s.robots), target) || !s.hosts.of(&s.turn.Host).claimProbe() {
		return false
	}
	if a, ok := s.probe(ctx, target, s.asks.missing); ok {
		s.learnMissing(ctx, target, &a)
	}
	return true
}

// probe asks for what is no page that is known; ok: it was answered.
func (s *visit) probe(ctx context.Context, target canon.URL, accept []string) (a answer, ok bool) {
	a, err := s.ask(ctx, target, s.headers(target, accept))
	s.record(&a)
	s.out.Header, s.out.Request = nil, nil // they belong to no page
	s.out.RetryAfter = s.retryAfter(a.Status, a.Header, s.clock.Now())
	s.out.Kind = models.Probed
	var failed *fetchError
	switch {
	case errors.As(err, &failed) && failed.class().Ours():
		s.fail(failed.class(), failed.Error())
	case errors.As(err, &failed):
		s.out.Class = failed.class() // whether anybody answered tells if it is our own network
		s.out.Detail = fmt.Sprintf("%s: %v", target.Path(), failed)
	case err != nil:
		s.stop(err)
	}
	return a, err == nil
}

// probeDue: whether it is time to ask, by when that was last done. Only a host is asked that has a page with content, and not while somebody
// waits for that page. Of a host that only lends images to the site nothing is asked but those.
func (s *visit) probeDue(last models.Instant) bool {
	if s.past == nil || s.settings.Probe <= 0 || s.page.Rule == models.RuleManual || s.needed {
		return false
	}
	if s.page.State != models.StateLive || s.page.Digest.IsZero() || s.page.Failures > 0 {
		return false
	}
	return last == 0 || !s.turn.Now.Before(last.Time().Add(s.settings.Probe))
}

// probeTarget is a name that does not exist, in the directory of the site's start URL or, on another host, at the top.
func (s *visit) probeTarget() (canon.URL, bool) {
	directory := s.url.Origin() + "/"
	if start, err := canon.Parse(s.start); err == nil && start.HostName() == s.url.HostName() {
		directory = s.url.Origin() + strings.TrimPrefix(start.Directory(), start.Origin())
	}
	u, err := canon.Parse(directory + probeName + letters(s.url.HostName()+" "+strconv.FormatInt(s.turn.Now.Unix(), 10)))
	return u, err == nil
}

// letters are drawn from a text, the same for the same text.
func letters(seed string) string {
	sum := sha256.Sum256([]byte(seed))
	name := make([]byte, probeLetters)
	for i := range name {
		name[i] = 'a' + sum[i]%26
	}
	return string(name)
}

// learnMissing keeps what the host's answer looks like, or that it is an honest one. Where the page whose turn it is looks
// the same, as on a site whose pages are all filled in by scripts, that look says nothing.
func (s *visit) learnMissing(ctx context.Context, target canon.URL, a *answer) {
	s.out.Detail = fmt.Sprintf("%s, which does not exist, is answered with %d", target.Path(), a.Status)
	if a.Status == http.StatusTooManyRequests || a.Status >= 500 {
		return // it says nothing of names that do not exist
	}
	held, kind, ok, err := s.past.Body(ctx, s.page)
	if err != nil || !ok && a.Status == http.StatusOK {
		s.out.Detail += "; there is no copy to hold that against"
		return
	}
	host, at, alike := s.hostMemory(ctx), s.turn.Now, false
	var body []byte
	var turn int64
	err = s.comparer.run(ctx, target, len(held)+len(a.Body), func(context.Context) error {
		var answered *content.View
		if a.Status == http.StatusOK {
			answered = content.Read(a.Body, a.Header.Get("Content-Type"), target, s.content)
		}
		good := content.Read(held, kind, s.url, s.content)
		body, turn = host.change(func(memory *content.HostMemory, _ *content.Orders) {
			memory.LearnMissing(answered, a.Status, at)
			if alike = memory.IsMissing(good); alike {
				memory.LearnMissing(nil, a.Status, at)
			}
		})
		return nil
	})
	switch {
	case err != nil:
		s.out.Detail += fmt.Sprintf("; nothing is learned from it: %v", err)
		return
	case alike:
		s.out.Detail += ", as its pages are: they cannot be told apart"
	}
	s.out.HostMemory, s.out.HostTurn = body, turn
}
