package models

import (
	"context"
	"fmt"
)

// Worker is one process that visits pages, as it last said of itself.
type Worker struct {
	Name       string `gorm:"primaryKey"` // unique
	Machine    string
	PID        int32   `gorm:"column:pid"`
	Release    string  // the binary's version
	StartedAt  Instant // by the daemon's clock
	BeatAt     Instant // the last beat, by the daemon's clock
	RealBeatAt Instant // the last beat, by the machine's clock: tells the living from the dead
	Visits     int64   // committed since it started
	Lost       int64   // results discarded because their lease was lost
	InFlight   int32   // visits under way
	Share      float64 // of the buckets that it wants, beside those of others: 1 for all it can get, 0 while it may claim nothing; scheduler.Peer
	Lag        int64   // nanoseconds: how late its own buckets are, on average
	Statements int64   // sent to the database since it started
}

// Beat writes a worker's row.
func (s *Store) Beat(ctx context.Context, w Worker) error {
	w.Name, w.Machine, w.Release = Clean(w.Name), Clean(w.Machine), Clean(w.Release)
	err := s.inTx(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `INSERT INTO workers (name, machine, pid, release, started_at, beat_at, real_beat_at, visits, lost,
			in_flight, share, lag, statements) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
			ON CONFLICT (name) DO UPDATE SET machine = excluded.machine, pid = excluded.pid, release = excluded.release,
			started_at = excluded.started_at, beat_at = excluded.beat_at, real_beat_at = excluded.real_beat_at,
			visits = excluded.visits, lost = excluded.lost, in_flight = excluded.in_flight, share = excluded.share,
			lag = excluded.lag, statements = excluded.statements`,
			w.Name, w.Machine, w.PID, w.Release, int64(w.StartedAt), int64(w.BeatAt), int64(w.RealBeatAt), w.Visits, w.Lost,
			w.InFlight, w.Share, w.Lag, w.Statements)
		return err
	})
	if err != nil {
		return fmt.Errorf("beat of worker %s: %w", w.Name, err)
	}
	return nil
}

// Leave removes a worker's row. No row is no error.
func (s *Store) Leave(ctx context.Context, name string) error {
	err := s.inTx(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `DELETE FROM workers WHERE name = $1`, Clean(name))
		return err
	})
	if err != nil {
		return fmt.Errorf("worker %s leaves: %w", name, err)
	}
	return nil
}

// Workers lists the workers by name, the dead ones too.
func (s *Store) Workers(ctx context.Context) ([]Worker, error) {
	var workers []Worker
	if err := s.read.WithContext(ctx).Order("name").Find(&workers).Error; err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	return workers, nil
}

// Beats lists the workers by name, with no more of them than any release has written: also of a database that is behind (Behind), and while
// another process brings it up to date.
func (s *Store) Beats(ctx context.Context) ([]Worker, error) {
	var workers []Worker
	err := s.read.WithContext(ctx).Select("name", "machine", "pid", "real_beat_at").Order("name").Find(&workers).Error
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	return workers, nil
}
