package scheduler

import (
	"context"

	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// syncJudged adds what was judged since the last time to the note of the database: what several workers saw adds up. A
// note that is not ours is replaced.
func (m *Mind) syncJudged(ctx context.Context) error {
	m.mu.Lock()
	now := m.judged
	m.mu.Unlock()
	added := now.Since(&m.written) // written is only used here, by the one who syncs
	if added.Visits() == 0 {
		return nil
	}
	err := m.store.Merge(ctx, models.NoteCalibration, func(old []byte) []byte {
		var sum changerate.Calibration
		_ = sum.UnmarshalBinary(old) // nothing is added to what cannot be read
		sum.Merge(&added)
		body, err := sum.MarshalBinary()
		if err != nil {
			return nil
		}
		return body
	})
	if err == nil {
		m.written = now
	}
	return err
}
