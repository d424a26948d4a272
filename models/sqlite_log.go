package models

import "context"

// checkpointFrames is how many pages the write-ahead log holds before they are copied into the database: 16 MiB. Pages that
// are written again and again are copied once.
const checkpointFrames = 4096

// longestLog is how many times as many it holds before it is made to begin anew.
const longestLog = 4

// checkpoint copies the write-ahead log into the database where it is long, unless somebody else does. Where it fails, the next
// one does it: nothing depends on it but the length of the log.
func (w *liteWriter) checkpoint(ctx context.Context) {
	select {
	case w.checkpoints.room <- struct{}{}:
	default:
		return
	}
	defer func() { <-w.checkpoints.room }()
	c, err := w.checkpoints.free()
	if err != nil {
		return
	}
	defer w.checkpoints.put(c)
	if frames, copied, err := c.checkpoint("NOOP"); err != nil || frames-copied < w.logFrames {
		return
	}
	if frames, _, err := c.checkpoint("PASSIVE"); err == nil && frames >= longestLog*w.logFrames {
		w.restart(ctx, c)
	}
}

// restart has the write-ahead log begin anew, which it does only where all of it was copied. While others write that may never
// be, and the log would grow as long as they do; so the rest, which is short by now, is copied while nobody else has the writer.
// Who reads the log longer than the connection waits only puts it off until the log is long once more.
func (w *liteWriter) restart(ctx context.Context, c *liteConn) {
	if w.enter(ctx, nil) != nil {
		return
	}
	defer w.leave()
	_, _, _ = c.checkpoint("RESTART")
}

// checkpoint makes a checkpoint, and tells how many pages the write-ahead log has after it, and how many of them are in the
// database.
func (c *liteConn) checkpoint(mode string) (frames, copied int64, err error) {
	rows, err := c.rows("PRAGMA wal_checkpoint("+mode+")", nil)
	err = eachRow(rows, err, func(rows answer) error {
		var busy int64
		return rows.Scan(&busy, &frames, &copied)
	})
	return frames, copied, err
}
