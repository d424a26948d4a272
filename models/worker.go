package models

import (
	"context"
	"fmt"
)

// Worker is one process that visits pages, as it last said of itself.
type Worker struct {
	Name       string // unique
	Machine    string
	PID        int32
	Release    string  // the binary's version
	StartedAt  Instant // by the daemon's clock
	BeatAt     Instant // the last beat, by the daemon's clock
	RealBeatAt Instant // the last beat, by the machine's clock: tells the living from the dead
	Visits     int64   // committed since it started
	Lost       int64   // results discarded because their lease was lost
	InFlight   int32   // visits under way
}

// Beat writes a worker's row.
func (s *Store) Beat(ctx context.Context, w Worker) error {
	err := s.inTx(ctx, func(t *tx) error { return workerTable.upsert(ctx, t, []Worker{w}) })
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
	rows, err := s.rows(ctx, `SELECT `+workerTable.list()+` FROM workers ORDER BY name`)
	workers, err := workerTable.scan(rows, err)
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	return workers, nil
}
