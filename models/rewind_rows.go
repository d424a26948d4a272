package models

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// page brings a page back and tells whether anything of it was of a clock that was ahead.
func (w *rewinder) page(p *Page) bool {
	wrong := false
	for _, at := range []*Instant{&p.Stats.FirstAt, &p.Stats.VisitedAt, &p.Stats.ChangedAt, &p.BytesAt, &p.TriedAt, &p.MissingSince,
		&p.FullAt, &p.ToldAt, &p.AnnouncedAt, &p.UnnamedAt, &p.NamedAt} {
		wrong = wrong || *at > w.back.Now
		*at = w.back.Moment(*at)
	}
	every := w.Interval(p)
	late := p.DueAt > w.back.Now+latest(every) || p.TriedAt == 0 && p.DueAt > w.back.Now+Instant(every.Milliseconds())
	if !wrong && !late {
		return false
	}
	p.FreshUntil = min(p.FreshUntil, w.back.Now)
	if known := float32((p.Stats.VisitedAt - p.Stats.FirstAt)) / millisADay; p.Evidence.Days > known {
		p.Evidence.Days = known // the years that the clock passed over in one step are none in which the page did not change
	}
	p.DueAt = w.due(p, every)
	return true
}

// farthest is how much later than its interval a page may be due that failed, is gone, or waits for a window or a promise.
const farthest = 31 * 24 * time.Hour

func latest(every time.Duration) Instant {
	return Instant((every + max(every/4, farthest)).Milliseconds())
}

// due is when a page that is due at all, and not now, is due: at a moment of its own within its interval. All that a clock
// that jumped ahead made overdue was visited as one heap, and would come back as one.
func (w *rewinder) due(p *Page, every time.Duration) Instant {
	if p.DueAt <= w.back.Now {
		return p.DueAt
	}
	const golden = 0x9e3779b97f4a7c15
	turned := uint64(p.ID) * golden
	return w.back.Now + 1 + Instant((turned^turned>>29)%uint64(max(every.Milliseconds(), 1)))
}

// host ends a host's lease and brings back its row, given when its first page is due.
func (w *rewinder) host(h *Host, earliest Instant) {
	h.OpenAt = min(h.OpenAt, w.back.Now+delayOf(h)) // nothing was sent after now
	h.AskedAt = w.back.Moment(h.AskedAt)
	if h.BackoffUntil > w.back.Now+Instant(w.RetryMax.Milliseconds()) {
		left := max(h.BackoffUntil-w.back.By-w.back.Now, 0) // what was left of it when something was written last
		h.BackoffUntil = w.back.Now + min(left, Instant(w.RetryMax.Milliseconds()))
	}
	h.GuardedAt = w.back.Moment(h.GuardedAt)
	for _, at := range []*Instant{&h.Trials.AuditedAt, &h.Trials.ProbedAt, &h.Trials.AbsentAt, &h.Trials.ShownAt, &h.Trials.Losses.Since,
		&h.Trials.Losses.SeenAt, &h.Trials.SitemapAt} {
		*at = w.back.Moment(*at)
	}
	for i := range h.Trials.By {
		one := &h.Trials.By[i]
		one.Since, one.DistrustedAt = w.back.Moment(one.Since), w.back.Moment(one.DistrustedAt)
	}
	if h.LeaseUntil > 0 {
		h.Void(w.back.Now, earliest)
		return
	}
	h.ReadyAt = h.ReadyFrom(earliest)
}

// known brings back what is known of the hosts of a bucket, and counts it as learned anew.
func (w *rewinder) known(ctx context.Context, bucket int16) error {
	return w.bodies(ctx, bucket, "knowledge", "host_id", w.Known, func(t *tx, host int64, body []byte) error {
		q := newQueue(t)
		if err := q.lock(ctx, []rowKey{{bucket, host}}); err != nil {
			return err
		}
		if h := q.get(bucket, host); h != nil {
			h.Learned++
		}
		if err := knowledgeTable.upsert(ctx, t, []Knowledge{{Bucket: bucket, HostID: host, Body: body}}); err != nil {
			return err
		}
		return q.flush(ctx)
	})
}

// noise brings back what is remembered of the noise of the hosts of a bucket. Of those of pages, what came after now counts
// as having come now when they are read.
func (w *rewinder) noise(ctx context.Context, bucket int16) error {
	of := "page_id = " + strconv.Itoa(HostMemoryID) + " AND host_id"
	return w.bodies(ctx, bucket, "memories", of, w.Noise, func(t *tx, host int64, body []byte) error {
		return memoryTable.upsert(ctx, t, []Memory{{Bucket: bucket, HostID: host, PageID: HostMemoryID, Body: body}})
	})
}

// fewRows is how many bodies are held at a time: each may have a hundred kilobytes.
const fewRows = 100

// bodies brings back values of a bucket, one a host, that the store does not look into; column ends a condition.
func (w *rewinder) bodies(ctx context.Context, bucket int16, table, column string, back func([]byte, Back) []byte,
	write func(t *tx, host int64, body []byte) error) error {
	// Index: the primary key.
	query := `SELECT host_id, body FROM ` + table + ` WHERE bucket = $1 AND ` + column + ` > $2 ORDER BY host_id LIMIT $3`
	for after, more := beforeAll, true; more; {
		hosts, bodies, err := w.readBodies(ctx, query, bucket, after)
		if more = len(hosts) == fewRows; err != nil || len(hosts) == 0 {
			return err
		}
		for i, host := range hosts {
			body := back(bodies[i], w.back)
			if bytes.Equal(body, bodies[i]) {
				continue
			}
			if err := w.store.inTx(ctx, func(t *tx) error { return write(t, host, body) }); err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
			w.done[table]++
		}
		after = hosts[len(hosts)-1]
	}
	return nil
}

func (w *rewinder) readBodies(ctx context.Context, query string, bucket int16, after int64) (hosts []int64, bodies [][]byte, err error) {
	rows, err := w.store.rows(ctx, query, bucket, after, fewRows)
	err = eachRow(rows, err, func(rows answer) error {
		var host int64
		var body []byte
		err := rows.Scan(&host, &body)
		hosts, bodies = append(hosts, host), append(bodies, body)
		return err
	})
	return hosts, bodies, err
}

// notes brings back the notes.
func (w *rewinder) notes(ctx context.Context) error {
	notes, err := noteTable.scan(w.store.rows(ctx, `SELECT name, body FROM notes ORDER BY name`))
	if err != nil {
		return err
	}
	for _, n := range notes {
		body := w.Note(n.Name, n.Body, w.back)
		if bytes.Equal(body, n.Body) {
			continue
		}
		err := w.store.inTx(ctx, func(t *tx) error {
			if len(body) == 0 {
				_, err := t.exec(ctx, `DELETE FROM notes WHERE name = $1`, n.Name)
				return err
			}
			_, err := t.exec(ctx, `UPDATE notes SET body = $2 WHERE name = $1`, n.Name, body)
			return err
		})
		if err != nil {
			return fmt.Errorf("notes: %w", err)
		}
		w.done["notes"]++
	}
	return nil
}

// days adds the sums of days to come to those of the days that they were.
func (w *rewinder) days(ctx context.Context) error {
	today := DayOf(w.back.Now)
	for bucket := range int16(Buckets) {
		n := 0
		err := w.store.inTx(ctx, func(t *tx) error {
			// Index: the primary key; there is a row a day and site.
			ahead, err := dailyTable.scan(t.rows(ctx, `SELECT `+dailyTable.list()+` FROM daily WHERE bucket = $1 AND day > $2`, bucket, today))
			if n = len(ahead); err != nil || n == 0 {
				return err
			}
			if _, err := t.exec(ctx, `DELETE FROM daily WHERE bucket = $1 AND day > $2`, bucket, today); err != nil {
				return err
			}
			for _, d := range ahead { // one by one: two may become one row
				d.Day = min(today, DayOf(w.back.Moment(Instant(d.Day)*millisADay)))
				if err := dailyTable.add(ctx, t, []Daily{d}, addDaily()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("daily: %w", err)
		}
		w.done["daily"] += int64(n)
	}
	return nil
}

// everywhere brings back the small tables.
func (w *rewinder) everywhere(ctx context.Context) error {
	return w.store.inTx(ctx, func(t *tx) error {
		sites := strings.NewReplacer("$2", "$1", "$3", "$2").Replace(moment("created_at") + ", " + moment("guarded_at") + ", " + moment("approved_at"))
		n, err := t.exec(ctx, `UPDATE sites SET `+sites+` WHERE created_at > $1 OR guarded_at > $1 OR approved_at > $1`, int64(w.back.Now), int64(w.back.By))
		if err != nil {
			return fmt.Errorf("sites: %w", err)
		}
		w.done["sites"] += n
		n, err = t.exec(ctx, `DELETE FROM workers WHERE started_at > $1 OR beat_at > $1 OR real_beat_at > $1`, int64(w.back.Now))
		if err != nil {
			return fmt.Errorf("workers: %w", err)
		}
		w.done["workers"] += n
		return nil
	})
}
