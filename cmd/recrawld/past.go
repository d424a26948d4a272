package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"recrawld/archive"
	"recrawld/config"
	"recrawld/models"
)

// past is what visits look up of pages: their newest versions in the archive, and what is remembered of them in the
// database. It implements recrawl.Past.
type past struct {
	store  *models.Store
	bodies *archive.Reader
}

// openPast opens the archive of a configuration for reading, beside the daemon that writes to it. The machine's time is now.
func openPast(store *models.Store, c *config.Config, now func() time.Time) (*past, error) {
	bodies, err := openArchiveReader(c, store, now)
	if err != nil {
		return nil, err
	}
	return &past{store: store, bodies: bodies}, nil
}

func (p *past) close() error { return p.bodies.Close() }

// Memory implements recrawl.Past.
func (p *past) Memory(ctx context.Context, bucket int16, host, page int64) ([]byte, error) {
	return p.store.Memory(ctx, bucket, host, page)
}

// Page implements recrawl.Past.
func (p *past) Page(ctx context.Context, bucket int16, id int64) (models.Page, error) {
	return p.store.Page(ctx, bucket, id)
}

// Body implements recrawl.Past. A version whose body was not kept, or lies in an archive that this worker cannot see,
// has none.
func (p *past) Body(ctx context.Context, page *models.Page) (body []byte, contentType string, ok bool, err error) {
	answer, ok, err := p.answer(ctx, page)
	if !ok {
		return nil, "", false, err
	}
	return answer.Body, archive.Field(answer.Header, "Content-Type"), true, nil
}

// answer is the answer whose body Body returns.
func (p *past) answer(ctx context.Context, page *models.Page) (answer archive.Answer, ok bool, err error) {
	if page.Version == 0 {
		return archive.Answer{}, false, nil
	}
	version, err := p.store.Version(ctx, page.Bucket, page.ID, page.Version)
	switch {
	case errors.Is(err, models.ErrNotFound):
		return archive.Answer{}, false, nil
	case err != nil:
		return archive.Answer{}, false, fmt.Errorf("read version %d of %s: %w", page.Version, page.URL, err)
	case version.Record.File == "":
		return archive.Answer{}, false, nil
	}
	answer, err = p.bodies.Read(version.Record)
	if errors.Is(err, fs.ErrNotExist) {
		return archive.Answer{}, false, nil
	}
	if err != nil {
		return archive.Answer{}, false, err
	}
	return answer, true, nil
}
