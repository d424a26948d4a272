package changerate

import "math"

// Longer pages change more often: on eight histories in proportion to about the 0.4th power of their length (0.25 to 0.65);
// on one, a forum of few changes, it does not show. So did Fetterly, Manasse, Najork and Wiener find on 150 million pages
// ("A Large-Scale Study of the Evolution of Web Pages", WWW 2003). The feature compares a page with the others of its host,
// because how often these change is known already.

// lengths is how long the pages of a host are: the mean logarithm over their days, as that is how their changes are
// counted.
type lengths struct{ sum, days float64 }

// The logarithm of a length is that of so many bytes more, as a few bytes more or less say nothing, and no page counts as
// more than longest or less than its inverse times as long as the others: those are rare, and of another kind.
const (
	fewBytes = 50
	longest  = 3 // a logarithm: 20 times
)

func logLength(bytes int64) float64 { return logOf(float64(bytes) + fewBytes) }

// add enters a page of a length, for so many days.
func (l *lengths) add(bytes int64, days float64) {
	if bytes <= 0 || !(days > 0) || math.IsInf(days, 1) {
		return
	}
	l.sum += days * logLength(bytes)
	l.days += days
}

// of is the logarithm of how many times as long as the others a page is; 0 where either is not known.
func (l *lengths) of(bytes int64) float64 {
	if bytes <= 0 || !(l.days > 0) {
		return 0
	}
	return bounded(logLength(bytes)-l.sum/l.days, -longest, longest)
}
