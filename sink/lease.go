package sink

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// lease is how long a sink is held by who does not renew it.
const lease = time.Minute

// LeaseKey is the key of the row that holds the lease of a sink.
func LeaseKey(sink string) string { return "sink-lease:" + sink }

// LeaseFreed is that row where the lease was given up.
const LeaseFreed = "0 nobody"

// parseLease reads the row: "<end in Unix milliseconds> <owner>". What has no number is no lease.
func parseLease(row string) (end models.Instant, owner string) {
	number, owner, _ := strings.Cut(row, " ")
	until, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, owner
	}
	return models.Instant(until), owner
}

// HeldBy is who has drained a sink since a moment and not given it up, by the row under its LeaseKey; "": nobody.
func HeldBy(row string, since time.Time) (owner string) {
	end, owner := parseLease(row)
	if end <= models.At(since) {
		return ""
	}
	return owner
}

func (d *Drain) leaseKey() string { return LeaseKey(d.sink.Name()) }

// hold takes or renews the lease, by compare and set of its row.
func (d *Drain) hold(ctx context.Context) error {
	old, err := d.log.Meta(ctx, d.leaseKey())
	if err != nil {
		return err
	}
	now := d.clock.Now()
	end, owner := parseLease(old)
	// One that ends much later than any that begins now was taken by a clock that was wrong: it would hold for as long as that
	// clock ran ahead.
	valid := end > models.At(now) && end <= models.At(now.Add(d.clock.Real(2*lease)))
	if owner != d.opts.Owner && valid {
		return fmt.Errorf("sink %s: %w: %s", d.sink.Name(), ErrBusy, owner)
	}
	mine := strconv.FormatInt(int64(models.At(now.Add(d.clock.Real(lease)))), 10) + " " + d.opts.Owner
	if owner == d.opts.Owner && valid && end > models.At(now.Add(d.clock.Real(lease/2))) {
		return nil // held for long enough: no write a batch
	}
	current, err := d.log.SetMeta(ctx, d.leaseKey(), old, mine)
	if err != nil {
		return err
	}
	if current != mine {
		return fmt.Errorf("sink %s: %w", d.sink.Name(), ErrBusy)
	}
	d.waiting.known = d.waiting.known && owner == d.opts.Owner
	d.trouble.known = d.trouble.known && owner == d.opts.Owner
	d.periods.known = d.periods.known && owner == d.opts.Owner
	d.given.doubted = true // now and then, whatever became of the server meanwhile
	return nil
}

// keeper is a sink whose deliveries may take longer than a lease.
type keeper interface {
	// Keep gives it what renews the lease in the midst of a delivery, which returns ErrBusy where others had it meanwhile: what
	// is still to be sent may then be older than what they sent.
	Keep(renew func(ctx context.Context) error)
}

// renew is hold where nobody else may have held it since.
func (d *Drain) renew(ctx context.Context) error {
	row, err := d.log.Meta(ctx, d.leaseKey())
	if err != nil {
		return err
	}
	if _, owner := parseLease(row); owner != d.opts.Owner {
		return fmt.Errorf("sink %s: %w: %s", d.sink.Name(), ErrBusy, owner)
	}
	return d.hold(ctx)
}

// release gives the lease up, so that another process need not wait for its end.
func (d *Drain) release(ctx context.Context) {
	ctx, cancel := outlasting(ctx)
	defer cancel()
	old, err := d.log.Meta(ctx, d.leaseKey())
	if _, owner := parseLease(old); err == nil && owner == d.opts.Owner {
		_, err = d.log.SetMeta(ctx, d.leaseKey(), old, LeaseFreed)
	}
	if err != nil {
		d.opts.Log.Warn("sink lease not released", slog.String("sink", d.sink.Name()), slog.Any("error", err))
	}
}

// outlasting is a context that goes on for a moment when ctx ends: long enough for what shall be written in any case, and
// no longer, since the database may not answer any more.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { clock.AfterFunc(patience, cancel) })
	return longer, func() { stop(); cancel() }
}

// rewrite writes a row of the sink that was read as it was before, where that is another one, and returns it as it is now; ErrBusy where another process
// has written it since.
func (d *Drain) rewrite(ctx context.Context, key, was string, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil || string(text) == was {
		return was, err
	}
	current, err := d.log.SetMeta(ctx, key, was, string(text))
	if err == nil && current != string(text) {
		err = ErrBusy
	}
	return current, err
}
