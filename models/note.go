package models

import (
	"context"
	"fmt"
	"strconv"
)

// NoteCalibration is the name of the note with how well the changes of pages were foreseen, as they were told: a
// changerate.Calibration.
const NoteCalibration = "calibration"

// NoteBudget and NotePrice begin the names of the notes of a budget: how much of it is left, and what a visit has to be worth. An account
// follows.
const (
	NoteBudget = "budget/"
	NotePrice  = "price/"
)

// SiteAccount is the account of a site's own budget.
func SiteAccount(id int32) string { return "site/" + strconv.Itoa(int(id)) }

// Note reads what Merge last wrote under a name; nil where there is nothing.
func (s *Store) Note(ctx context.Context, name string) ([]byte, error) {
	// Index: the primary key.
	rows, err := s.rows(ctx, `SELECT body FROM notes WHERE name = $1`, Clean(name))
	if err != nil {
		return nil, fmt.Errorf("read note %s: %w", name, err)
	}
	defer rows.Close()
	var body []byte
	if rows.Next() {
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("read note %s: %w", name, err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read note %s: %w", name, err)
	}
	return body, nil
}

// ForgetNote removes what Merge wrote under a name. Nothing there is no error.
func (s *Store) ForgetNote(ctx context.Context, name string) error {
	err := s.inTx(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `DELETE FROM notes WHERE name = $1`, Clean(name))
		return err
	})
	if err != nil {
		return fmt.Errorf("forget note %s: %w", name, err)
	}
	return nil
}
