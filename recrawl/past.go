package recrawl

import (
	"context"

	"recrawld/models"
)

// Past is what is kept of pages beyond their rows, and the rows of others. A visit asks for it only where an answer differs, in its text or its
// links, from the copy that is held, or names another page as the one to read. It is safe for concurrent use.
type Past interface {
	// Memory returns what is remembered of a page of a host, or of the host itself (models.HostMemoryID, OrdersID); nil
	// where that is nothing.
	Memory(ctx context.Context, bucket int16, host, page int64) ([]byte, error)

	// Page returns the row of a page by its key (models.BucketOf, models.PageID), or models.ErrNotFound.
	Page(ctx context.Context, bucket int16, id int64) (models.Page, error)

	// Body returns the decoded body of a page's newest version, with the Content-Type it came with. A body that was not
	// kept is no error: ok is false.
	Body(ctx context.Context, page *models.Page) (body []byte, contentType string, ok bool, err error)
}
