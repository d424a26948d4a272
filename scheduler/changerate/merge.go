package changerate

import (
	"fmt"
	"math"
)

// Merge is what the stored weights become when a worker adds what it learned: mine are its weights now, base those
// that it began from. All that was learned is a sum, of the precision and of the precision's product with the mean, so
// stored + (mine − base) does not depend on who came first. None of the three is changed.
//
// Where rounding or a foreign base leaves no distribution, mine win.
func Merge(stored, base, mine *Weights) *Weights {
	sum := new(Weights)
	sum.changes = max(0, stored.changes+mine.changes-base.changes)
	sum.days = max(0, stored.days+mine.days-base.days)
	sum.customs = stored.customs.merged(&base.customs, &mine.customs)
	information := stored.information()
	ours, begun := mine.information(), base.information()
	for i := range information {
		information[i] += ours[i] - begun[i]
		for j := range sum.precision[i] {
			sum.precision[i][j] = stored.precision[i][j] + mine.precision[i][j] - base.precision[i][j]
		}
	}
	if !sum.solve(&information) {
		return mine.Clone()
	}
	return sum
}

// Clone is a copy that learns on its own.
func (w *Weights) Clone() *Weights {
	clone := *w
	return &clone
}

// information is the precision times the mean.
func (w *Weights) information() vector { return w.precision.times(&w.mean) }

// solve computes the covariance and the mean from the precision and the information, by Cholesky's decomposition. It
// is false where the precision is not positive definite.
func (w *Weights) solve(information *vector) bool {
	factor, ok := w.precision.cholesky()
	if !ok {
		return false
	}
	upper := factor.transposed()
	for i := range w.covariance {
		var unit vector
		unit[i] = 1
		w.covariance[i] = solve(factor, upper, &unit, i)
	}
	for i := range w.covariance { // rounding must not make it lopsided
		for j := range i {
			middle := (w.covariance[i][j] + w.covariance[j][i]) / 2
			w.covariance[i][j], w.covariance[j][i] = middle, middle
		}
	}
	w.mean = solve(factor, upper, information, 0)
	for _, x := range w.mean {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// cholesky is the lower triangle L with L·Lᵀ = m.
func (m *matrix) cholesky() (lower *matrix, ok bool) {
	lower = new(matrix)
	for i := range m {
		for j := range i + 1 {
			sum := m[i][j]
			for k := range j {
				sum -= lower[i][k] * lower[j][k]
			}
			if i != j {
				lower[i][j] = sum / lower[j][j]
				continue
			}
			if !(sum > 0) || math.IsInf(sum, 0) {
				return nil, false
			}
			lower[i][i] = math.Sqrt(sum)
		}
	}
	return lower, true
}

func (m *matrix) transposed() *matrix {
	turned := new(matrix)
	for i := range m {
		for j := range m[i] {
			turned[j][i] = m[i][j]
		}
	}
	return turned
}

// solve is the x with L·Lᵀ·x = right, of which nothing is before first. The upper triangle is Lᵀ, to be read row by row.
func solve(lower, upper *matrix, right *vector, first int) vector {
	x := *right
	for i := first; i < len(x); i++ {
		left, row := x[i], &lower[i]
		for k := first; k < i; k++ {
			left -= row[k] * x[k]
		}
		x[i] = left / row[i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		left, row := x[i], &upper[i]
		for k := i + 1; k < len(x); k++ {
			left -= row[k] * x[k]
		}
		x[i] = left / row[i]
	}
	return x
}

// MarshalBinary writes the weights: the mean and the lower triangle of the precision, a few kB. The error is always
// nil.
func (w *Weights) MarshalBinary() ([]byte, error) {
	out := make(writer, 0, 8*(weightCount*(weightCount+3)/2+theories+4))
	out.byte(weightsForm)
	out.uint32(Mark())
	out.number(w.changes)
	out.number(w.days)
	for i := range w.mean {
		out.number(w.mean[i])
		for j := range i + 1 {
			out.number(w.precision[i][j])
		}
	}
	w.customs.write(&out)
	return out, nil
}

// UnmarshalBinary reads what MarshalBinary wrote. After an error the weights are as they were; ErrOtherModel says that
// they are those of another model.
func (w *Weights) UnmarshalBinary(stored []byte) error {
	r := &reader{rest: stored}
	form := r.form(weightsForm, timelessForm)
	if mark := r.uint32(); r.err == nil && mark != Mark() {
		r.err = fmt.Errorf("%w: other features", ErrOtherModel)
	}
	read := Weights{changes: r.sum(), days: r.sum()}
	for i := range read.mean {
		read.mean[i] = r.number()
		for j := range i + 1 {
			read.precision[i][j] = r.number()
			read.precision[j][i] = read.precision[i][j]
		}
	}
	read.customs = begun(read.changes, read.days)
	if form == weightsForm {
		read.customs = readCustoms(r)
	}
	if err := r.end(); err != nil {
		return fmt.Errorf("read weights: %w", err)
	}
	mean, information := read.mean, read.information()
	if !read.solve(&information) {
		return fmt.Errorf("read weights: %w: not a distribution", errCorrupt)
	}
	read.mean = mean // the same, without rounding
	*w = read
	return nil
}
