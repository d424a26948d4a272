package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"recrawld/models"
)

// Passed is of how many pages a sink goes without what happened to them, since their copies are not to be had here: they wait like others, and where
// more than maxWithheld would, everything waits for PassAfter, as for what is being brought here. After that those that are too many are passed over.
// The zero Passed is none.
type Passed struct {
	Since models.Instant `json:"since,omitempty"` // too many wait; 0: they do not
	Pages int64          `json:"pages,omitempty"` // that were passed over since the sink was made anew; one twice counts twice
	At    models.Instant `json:"at,omitempty"`    // the last of them was
	Why   string         `json:"why,omitempty"`   // it could not be had
}

// PassAfter is for how long, in real time, everything waits for copies that are not here.
const PassAfter = 24 * time.Hour

// PassedKey is the key of the row with the Passed of a sink.
func PassedKey(sink string) string { return "sink-passed:" + sink }

// PassedIn reads that row.
func PassedIn(row string) (Passed, error) { return inRow[Passed](row, "passed over pages") }

// missingCopy marks why a page cannot be delivered that waits for its copy and nothing that the receiver could mend.
type missingCopy struct{ error }

// errCopies says that too many pages wait for their copies.
var errCopies = errors.New("everything waits for copies that are not here")

// pass passes over the pages that are too many, where that is allowed and they wait for their copies.
func (r *Refused) pass() {
	for i := len(r.Pages) - 1; r.passes && i >= 0 && len(r.Pages) > maxWithheld; i-- {
		if r.Pages[i].Away {
			r.passed++
			r.why = r.Pages[i].Why
			r.Pages = slices.Delete(r.Pages, i, i+1)
		}
	}
}

// readPassed reads what was passed over.
func (d *Drain) readPassed(ctx context.Context) (p Passed, row string, err error) {
	if row, err = d.log.Meta(ctx, PassedKey(d.sink.Name())); err == nil {
		p, err = PassedIn(row)
	}
	return p, row, err
}

// passes tells whether pages are passed over by now that are too many to wait.
func (d *Drain) passes(ctx context.Context) (bool, error) {
	p, _, err := d.readPassed(ctx)
	return p.Since > 0 && d.clock.Now().Sub(p.Since.Time()) >= d.clock.Real(PassAfter), err
}

// noteCopies notes that too many pages wait for their copies, where the error says so.
func (d *Drain) noteCopies(ctx context.Context, err error) error {
	if !errors.Is(err, errCopies) {
		return nil
	}
	p, row, failed := d.readPassed(ctx)
	if failed != nil || p.Since > 0 {
		return failed
	}
	p.Since = models.At(d.clock.Now())
	return d.writePassed(ctx, row, p)
}

// notePassed notes what a delivery has passed over that leaves so many pages waiting, or what the making of a sink anew has, which begins the count.
func (d *Drain) notePassed(ctx context.Context, refused *Refused, waiting int, anew bool) error {
	p, row, err := d.readPassed(ctx)
	if err != nil {
		return err
	}
	was := p
	if anew {
		p = Passed{Since: p.Since}
	}
	if refused.passed > 0 {
		p.Pages, p.At, p.Why = p.Pages+int64(refused.passed), models.At(d.clock.Now()), refused.why.Error()
	}
	if waiting < maxWithheld/2 {
		p.Since = 0
	}
	if p == was {
		return nil
	}
	if was.Pages == 0 && p.Pages > 0 {
		d.opts.Log.Warn("sink passes over pages whose copies are not here, so many are they; recrawld sink list says how it gets them",
			slog.String("sink", d.sink.Name()), slog.String("error", p.Why))
	}
	return d.writePassed(ctx, row, p)
}

func (d *Drain) writePassed(ctx context.Context, old string, p Passed) error {
	if _, err := d.rewrite(ctx, PassedKey(d.sink.Name()), old, p); err != nil {
		return fmt.Errorf("note what a sink passes over: %w", err)
	}
	return nil
}
