package importance

import "math"

// The bounds of a page's importance.
const (
	Least = 0.001
	Most  = 1000
)

// Of is a page's importance: the weight of its site, times that of the rule for its URL (1 for none), times what its
// links make of it (see Graph.Factor), within [Least, Most]. What is not a number counts as 1.
func Of(site, rule, links float64) float32 {
	product := site * rule * links
	if math.IsNaN(product) {
		product = 1
	}
	return float32(min(max(product, Least), Most))
}
