package models

import (
	"context"
	"fmt"
	"time"
)

// Meta reads a value of the database as a whole; "" where it was never set.
func (s *Store) Meta(ctx context.Context, key string) (string, error) {
	value, err := metaValue(ctx, s.asker(), key)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", key, err)
	}
	return value, nil
}

func metaValue(ctx context.Context, ask asker, key string) (string, error) {
	// Index: the primary key.
	values, err := scanTexts(ask.rows(ctx, `SELECT value FROM meta WHERE key = $1`, key))
	if err != nil || len(values) == 0 {
		return "", err
	}
	return values[0], nil
}

// MetaKeys lists the keys with a value that begin with a text.
func (s *Store) MetaKeys(ctx context.Context, prefix string) ([]string, error) {
	// No index: the table is small, and chores and commands alone ask for this.
	keys, err := scanTexts(s.rows(ctx, `SELECT key FROM meta WHERE substr(key, 1, $1) = $2 ORDER BY key`, len(prefix), prefix))
	if err != nil {
		return nil, fmt.Errorf("list the keys of %s: %w", prefix, err)
	}
	return keys, nil
}

// Metas are the values of all keys that begin with a text, by key.
func (s *Store) Metas(ctx context.Context, prefix string) (map[string]string, error) {
	// No index, as above.
	rows, err := s.rows(ctx, `SELECT key, value FROM meta WHERE substr(key, 1, $1) = $2`, len(prefix), prefix)
	values := make(map[string]string)
	err = eachRow(rows, err, func(rows answer) error {
		var key, value string
		err := rows.Scan(&key, &value)
		values[key] = value
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the values of %s: %w", prefix, err)
	}
	return values, nil
}

// SetMeta sets a value where it still is old ("" for never set), and returns the value that is in force afterwards:
// of several processes that set it at once, all learn which one won. An empty value would stand for one that was never set.
func (s *Store) SetMeta(ctx context.Context, key, old, value string) (string, error) {
	var current string
	err := s.inTx(ctx, func(t *tx) error {
		var err error
		if old == "" {
			_, err = t.exec(ctx, `INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`, key, Clean(value))
		} else {
			_, err = t.exec(ctx, `UPDATE meta SET value = $3 WHERE key = $1 AND value = $2`, key, Clean(old), Clean(value))
		}
		if err != nil {
			return err
		}
		current, err = metaValue(ctx, t.asker(), key)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("set %s: %w", key, err)
	}
	return current, nil
}

// ForgetMeta removes a value, where it still is as it was read.
func (s *Store) ForgetMeta(ctx context.Context, key, old string) error {
	err := s.inTx(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `DELETE FROM meta WHERE key = $1 AND value = $2`, key, old)
		return err
	})
	if err != nil {
		return fmt.Errorf("forget %s: %w", key, err)
	}
	return nil
}

// ServerTime is what the clock of the database's server shows, by which workers on several machines agree; known is false for
// SQLite, which has none.
func (s *Store) ServerTime(ctx context.Context) (at time.Time, known bool, err error) {
	if s.dialect == sqliteDialect {
		return time.Time{}, false, nil
	}
	var micros int64
	rows, err := s.rows(ctx, `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)`)
	err = eachRow(rows, err, func(rows answer) error { return rows.Scan(&micros) })
	if err != nil {
		return time.Time{}, false, fmt.Errorf("ask the server for its time: %w", err)
	}
	return time.UnixMicro(micros).UTC(), true, nil
}

// NewestInstant is the newest moment that the database knows to have passed: of sites, beats, events and days with
// visits. A clock that shows much less is wrong. It is cheap and may lag behind the last visit by a day.
func (s *Store) NewestInstant(ctx context.Context) (Instant, error) {
	rows, err := s.rows(ctx, `SELECT COALESCE(MAX(created_at), 0) FROM sites
		UNION ALL SELECT COALESCE(MAX(beat_at), 0) FROM workers
		UNION ALL SELECT CAST(COALESCE(MAX(day), 0) AS bigint) * 86400000 FROM daily
		UNION ALL SELECT COALESCE(MAX(e.at), 0) FROM buckets b JOIN events e ON e.bucket = b.bucket AND e.seq = b.next_seq - 1`)
	if err != nil {
		return 0, fmt.Errorf("find newest moment: %w", err)
	}
	moments, err := scanIDs(rows)
	newest := Instant(0)
	for _, m := range moments {
		newest = max(newest, Instant(m))
	}
	return newest, err
}
