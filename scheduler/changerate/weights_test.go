package changerate

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	weightsOf = cmp.AllowUnexported(Weights{}, customs{})
	nearly    = cmpopts.EquateApprox(1e-6, 1e-9)
)

func TestDefaultsAreADistribution(t *testing.T) {
	t.Parallel()
	w := Defaults()
	again := w.Clone()
	information := again.information()
	if !again.solve(&information) {
		t.Fatal("the precision is not positive definite")
	}
	if diff := cmp.Diff(w, again, weightsOf, nearly); diff != "" {
		t.Errorf("solved (-want +got):\n%s", diff)
	}
}

// The covariance is updated step by step, the precision is summed: they must stay each other's inverse.
func TestWeightsStayConsistent(t *testing.T) {
	t.Parallel()
	w := newWorld(5, 60)
	w.visit(100)
	again := w.weights.Clone()
	information := again.information()
	if !again.solve(&information) {
		t.Fatal("the precision is not positive definite")
	}
	if diff := cmp.Diff(w.weights.covariance, again.covariance, weightsOf, cmpopts.EquateApprox(1e-4, 1e-8)); diff != "" {
		t.Errorf("covariance (-kept +solved):\n%s", diff)
	}
}

func TestWeightsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(6, 20)
	w.visit(50)
	body, err := w.weights.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	read := new(Weights)
	if err := read.UnmarshalBinary(body); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.weights, read, weightsOf, nearly); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if again, _ := read.MarshalBinary(); !bytes.Equal(body, again) {
		t.Error("written again in other bytes")
	}
	other := bytes.Clone(body)
	other[1]++
	if err := read.UnmarshalBinary(other); !errors.Is(err, ErrOtherModel) {
		t.Errorf("of other features: %v, want ErrOtherModel", err)
	}
	zero := bytes.Clone(body)
	clear(zero[5:])
	if err := read.UnmarshalBinary(zero); !errors.Is(err, errCorrupt) {
		t.Errorf("without a precision: %v, want errCorrupt", err)
	}
}

func FuzzWeights(f *testing.F) {
	good, _ := Defaults().MarshalBinary()
	f.Add(good)
	f.Add([]byte{weightsForm})
	w := newWorld(7, 5)
	w.visit(3)
	f.Fuzz(func(t *testing.T, stored []byte) {
		read := new(Weights)
		if read.UnmarshalBinary(stored) != nil {
			return
		}
		checkForecast(t, Look(read, &w.crowd, &w.pages[0], w.now+1))
		checkWeights(t, Merge(Defaults(), Defaults(), read))
	})
}

func checkWeights(t *testing.T, w *Weights) {
	t.Helper()
	for i, x := range w.mean {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatalf("weight %d is %v", i, x)
		}
	}
}

// Two workers that begin from the same weights: what both learned is stored, in whichever order they come.
func TestMergeAddsUpWhatWasLearned(t *testing.T) {
	t.Parallel()
	base := Defaults()
	one, two := newWorld(8, 30), newWorld(9, 30)
	one.weights, two.weights = base.Clone(), base.Clone()
	one.visit(40)
	two.visit(40)
	forth := Merge(Merge(base, base, one.weights), base, two.weights)
	back := Merge(Merge(base, base, two.weights), base, one.weights)
	if diff := cmp.Diff(forth, back, weightsOf, nearly); diff != "" {
		t.Errorf("by order (-first +second):\n%s", diff)
	}
	if want := one.weights.days + two.weights.days; !near(forth.days, want, 1e-9) {
		t.Errorf("%v page-days, want %v", forth.days, want)
	}
	for i := range forth.covariance {
		if alone := min(one.weights.covariance[i][i], two.weights.covariance[i][i]); forth.covariance[i][i] > alone*(1+1e-9) {
			t.Errorf("together weight %d is less certain (%v) than alone (%v)", i, forth.covariance[i][i], alone)
		}
	}
	if diff := cmp.Diff(Merge(base, base, base), base, weightsOf, nearly); diff != "" {
		t.Errorf("nothing learned (-got +want):\n%s", diff)
	}
}

// A base that has nothing to do with the stored weights leaves no distribution; then mine are kept.
func TestMergeWithAForeignBase(t *testing.T) {
	t.Parallel()
	w := newWorld(10, 30)
	w.visit(200)
	mine := Defaults()
	got := Merge(Defaults(), w.weights, mine)
	checkWeights(t, got)
	if diff := cmp.Diff(mine, got, weightsOf); diff != "" {
		t.Errorf("(-mine +got):\n%s", diff)
	}
}
