package models

import (
	"context"
	"fmt"

	"gorm.io/gorm/clause"
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
	Share      float64 // of the buckets that it wants, beside those of others: 1 for all it can get; scheduler.Peer
	Lag        int64   // nanoseconds: how late its own buckets are, on average
	Statements int64   // sent to the database since it started
}

// Beat writes a worker's row.
func (s *Store) Beat(ctx context.Context, w Worker) error {
	w.Name, w.Machine, w.Release = Clean(w.Name), Clean(w.Machine), Clean(w.Release)
	err := s.inTx(ctx, func(t *tx) error {
		return t.gorm(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&w).Error
	})
	if err != nil {
		return fmt.Errorf("beat of worker %s: %w", w.Name, err)
	}
	return nil
}

// Leave removes a worker's row. No row is no error.
func (s *Store) Leave(ctx context.Context, name string) error {
	err := s.inTx(ctx, func(t *tx) error {
		return t.gorm(ctx).Delete(&Worker{Name: Clean(name)}).Error
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
