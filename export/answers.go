package export

import (
	"context"
	"time"

	"recrawld/models"
)

// Answer is a version as it was answered: its body, and of its own header what a file of it needs.
type Answer struct {
	URL          string
	At           time.Time // the request was sent
	Digest       models.Digest
	ContentType  string // as it was sent; "": it was not
	LastModified string // as it was sent; "": it was not
	Body         []byte // until the next answer
}

// Answers calls take with all that was added, in the order in which the bodies lie in the archive, and lost with the URL of each version
// that cannot be read; Options.Lost is told of what that costs. It may be called more than once, and each time reads the archive anew. An
// error of take or lost ends it.
func (e *Exporter) Answers(ctx context.Context, take func(Answer) error, lost func(url string) error) (Summary, error) {
	captures, err := e.located(ctx)
	if err != nil {
		return Summary{}, err
	}
	b := e.newBodies()
	b.missed = lost
	err = b.each(ctx, captures, func(f found) error {
		return take(Answer{URL: f.url, At: f.date, Digest: f.digest, ContentType: f.head.Header("Content-Type"),
			LastModified: f.head.Header("Last-Modified"), Body: f.body.Body()})
	})
	return b.sum, err
}
