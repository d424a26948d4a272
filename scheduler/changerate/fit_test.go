package changerate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var usual = Fitting{Temper: 1, Narrow: 1, Widest: 1, Rounds: 200}

// taught is a lesson that says what one weight is, give or take a tenth, and nothing of the others.
func taught(weight int, value float64) (l Lesson) {
	l.precision[weight][weight] = 100
	l.information[weight] = 100 * value
	return l
}

func TestFitFindsWhatSitesHaveInCommon(t *testing.T) {
	t.Parallel()
	var sites []Lesson
	for i := range 40 {
		sites = append(sites, taught(3, 2+0.5*math.Sin(float64(i)*2.4))) // about 2, standard deviation 0.35
	}
	w := usual.Fit(sites).List()
	if got := w[3].Mean; math.Abs(got-2*40.0/41) > 0.05 { // one more site is thought to have 0
		t.Errorf("mean = %v, want 40/41 of 2", got)
	}
	if got := w[3].Spread; math.Abs(got-math.Hypot(0.34, 2*math.Sqrt(40)/41)) > 0.1 {
		t.Errorf("spread = %v, want that of the sites and of the one at 0", got)
	}
	if w[4].Mean != 0 {
		t.Errorf("a weight nobody learned anything of is %v, want 0", w[4].Mean)
	}
	narrow := Fitting{Temper: 1, Narrow: 0.5, Widest: 0.2, Rounds: 200}.Fit(sites).List()
	if narrow[3].Spread != 0.2 || narrow[3].Mean != w[3].Mean {
		t.Errorf("narrowed = %+v, want the mean %v and the widest spread 0.2", narrow[3], w[3].Mean)
	}
}

func TestFitWithoutLessonsSaysNothing(t *testing.T) {
	t.Parallel()
	for _, sites := range [][]Lesson{nil, {{}}} {
		for _, w := range usual.Fit(sites).List() {
			if w.Mean != 0 || !(w.Spread > 0) {
				t.Errorf("%s = %v ± %v without a lesson", w.Name, w.Mean, w.Spread)
			}
		}
	}
}

// What a run taught, put onto what it began from, is what it knew at its end; and lessons add up.
func TestLessonsAreWhatWasLearned(t *testing.T) {
	t.Parallel()
	w := newWorld(7, 40)
	base := w.weights.Clone()
	w.visit(20)
	middle := w.weights.Clone()
	first := middle.LessonSince(base)
	w.visit(20)
	first.Add(w.weights.LessonSince(middle))
	whole := w.weights.LessonSince(base)
	if d := cmp.Diff(whole, first, cmp.AllowUnexported(Lesson{}), nearly); d != "" {
		t.Errorf("two lessons (-at once +added):\n%s", d)
	}
	if d := cmp.Diff(Lesson{}, base.LessonSince(base), cmp.AllowUnexported(Lesson{})); d != "" {
		t.Errorf("nothing was learned (-want +got):\n%s", d)
	}
	again := base.Clone()
	information := again.information()
	for i := range information {
		information[i] += whole.information[i]
		for j := range again.precision[i] {
			again.precision[i][j] += whole.precision[i][j]
		}
	}
	if !again.solve(&information) {
		t.Fatal("no distribution")
	}
	for i, want := range w.weights.List() {
		if got := again.List()[i]; math.Abs(got.Mean-want.Mean) > 1e-4 {
			t.Errorf("%s = %v, want %v", want.Name, got.Mean, want.Mean)
		}
	}
}

func TestWeightsOfTheirList(t *testing.T) {
	t.Parallel()
	defaults := Defaults()
	w, err := WeightsOf(defaults.List())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(defaults, w, weightsOf, nearly); d != "" {
		t.Errorf("weights of their list (-want +got):\n%s", d)
	}
	other, empty := defaults.List(), defaults.List()
	other[1].Name, empty[1].Spread = "another", 0
	for _, list := range [][]Weight{nil, defaults.List()[1:], other, empty} {
		if _, err := WeightsOf(list); err == nil {
			t.Errorf("WeightsOf(%v): no error", list)
		}
	}
}
