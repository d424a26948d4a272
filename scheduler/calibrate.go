package scheduler

import (
	"context"
	"fmt"

	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// correctEvery is after how many forecasts that were judged the correction of further ones is worked out anew.
const correctEvery = 64

// noteForecasts is the name of the note with how well changes were foreseen before forecasts were corrected: what the correction
// follows from. Another model has another note.
func noteForecasts() string { return fmt.Sprintf("forecasts/%08x", changerate.Mark()) }

// judge holds a forecast of a change against what the visit found. The caller holds mu.
func (m *Mind) judge(f changerate.Forecast, changed bool) {
	m.judged.Add(f.Stale(), m.correction, changed)
	if m.unjudged++; m.unjudged >= correctEvery {
		m.correct()
	}
}

// correct works out the correction from all that was judged, by others and before a restart too. The caller holds mu.
func (m *Mind) correct() {
	all := m.others
	all.Merge(&m.judged.Made)
	m.correction, m.unjudged = all.Correction(), 0
}

// tally is what a note of the database has of a calibration that goes on here. It is used by sync alone.
type tally struct {
	added changerate.Calibration // all that was ever added
	holds changerate.Calibration // what of it the note has: less where the note was lost
	read  bool
}

// syncJudged adds what was judged since the last time to the notes of the database: what several workers saw adds up.
func (m *Mind) syncJudged(ctx context.Context) error {
	m.mu.Lock()
	now := m.judged
	m.mu.Unlock()
	if _, err := m.corrected.sync(ctx, m.store, models.NoteCalibration, &now.Corrected); err != nil {
		return err
	}
	others, err := m.made.sync(ctx, m.store, noteForecasts(), &now.Made)
	if err != nil || others == nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.others = *others
	m.correct()
	return nil
}

// sync adds what came since the last time to a note, and returns what others added to it, nil where nobody asked. A note that is
// not ours is replaced.
func (t *tally) sync(ctx context.Context, store Store, name string, now *changerate.Calibration) (*changerate.Calibration, error) {
	added := now.Since(&t.added)
	if added.Visits() == 0 && t.read {
		return nil, nil
	}
	var others, holds changerate.Calibration
	err := store.Merge(ctx, name, func(old []byte) []byte {
		var sum changerate.Calibration
		_ = sum.UnmarshalBinary(old) // nothing is added to what cannot be read
		if holds = t.holds; !sum.Has(&holds) {
			holds = changerate.Calibration{} // the note was lost
		}
		others = sum.Since(&holds)
		if added.Visits() == 0 {
			return nil // it stays
		}
		sum.Merge(&added)
		holds.Merge(&added)
		body, err := sum.MarshalBinary()
		if err != nil {
			return nil
		}
		return body
	})
	if err != nil {
		return nil, err
	}
	*t = tally{added: *now, holds: holds, read: true}
	return &others, nil
}
