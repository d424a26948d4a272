package scheduler

import "recrawld/scheduler/changerate"

// Calibration is how well the adaptive policy foresaw, since the worker was made, whether its visits would see a change.
// It is safe for concurrent use.
func (w *Worker) Calibration() changerate.Calibration {
	w.mind.mu.Lock()
	defer w.mind.mu.Unlock()
	return w.mind.judged
}
