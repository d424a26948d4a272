package sink

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// mailGapMin is how long a server that failed is left alone at first. Whoever puts off a stranger's mail wants it a minute later, not at once.
const mailGapMin = time.Minute

// LettersOptions sets up Letters. All are required but Secret.
type LettersOptions struct {
	Name string                              // of the sink
	Due  func(began time.Time) time.Time     // see Digester
	Send func(context.Context, Letter) error // it returns ErrUnwanted where trying again is of no use

	// Secret is by what Send is let in, read anew. A letter that is parked since it was refused is sent again once it is another one.
	// nil: there is none.
	Secret func() (string, error)

	// Compose puts a period into a letter, nil where there is nothing to tell, with the memo for the next one.
	Compose func(ctx context.Context, p *Period, events iter.Seq2[models.Event, error]) (letter *Letter, memo string, err error)

	Clock clock.Clock
}

// Letters is a Digester that sends a letter a period, by mail or to a chat. A server that puts it off is tried again ever less often, and one
// that refuses it is not, before the next start or a Replay, or before there is another secret where that was refused: each is tried once.
type Letters struct {
	options LettersOptions
	setbacks
}

// NewLetters returns Letters. They ask nobody for anything before there is something to tell.
func NewLetters(o LettersOptions) *Letters {
	return &Letters{options: o, setbacks: setbacks{clock: o.Clock}}
}

// Name implements Digester.
func (m *Letters) Name() string { return m.options.Name }

// Due implements Digester.
func (m *Letters) Due(began time.Time) time.Time { return m.options.Due(began) }

// Close implements io.Closer. Nothing is kept open between two letters.
func (m *Letters) Close() error { return nil }

// Mended implements mender. A secret that cannot be read is no other one.
func (m *Letters) Mended() bool {
	if m.later == nil || m.options.Secret == nil {
		return false
	}
	refused, ok := errors.AsType[*secretRefused](m.later)
	if !ok {
		return false
	}
	secret, err := m.options.Secret()
	return err == nil && sha256.Sum256([]byte(secret)) != refused.sum
}

// secretRefused is the error of a server that lets nobody in by a secret, and what that was.
type secretRefused struct {
	sum   [sha256.Size]byte
	words string // what it refuses
	why   error
}

// Error implements error.
func (e *secretRefused) Error() string {
	return fmt.Sprintf("%s, and is asked again once that is another one: %v", e.words, e.why)
}

// Unwrap returns what the server said.
func (e *secretRefused) Unwrap() error { return e.why }

// askedToWait is the error of a server that says how long it wants to be left alone.
type askedToWait struct {
	wait time.Duration
	error
}

// Unwrap returns what it said.
func (e *askedToWait) Unwrap() error { return e.error }

// Digest implements Digester.
func (m *Letters) Digest(ctx context.Context, p *Period, events iter.Seq2[models.Event, error]) (memo string, err error) {
	if err := m.waits(); err != nil && !m.Mended() {
		return "", err
	}
	letter, memo, err := m.options.Compose(ctx, p, events)
	if err != nil {
		return "", err
	}
	if letter != nil {
		if err := m.options.Send(ctx, *letter); err != nil {
			return "", m.fail(ctx, err)
		}
	}
	m.Revive()
	return memo, nil
}

// fail says when to try again.
func (m *Letters) fail(ctx context.Context, err error) error {
	if errors.Is(err, ErrUnwanted) {
		return m.parkedBy(ctx, err)
	}
	wait := gap(m.failed + 1)
	if asked, ok := errors.AsType[*askedToWait](err); ok {
		wait = asked.wait
	}
	return m.failedBy(ctx, err, max(wait, mailGapMin))
}
