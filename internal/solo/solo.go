// Package solo leaves out, where only simultaneity is looked at, the tests that have none.
package solo

import "testing"

// Test skips a dear test in which one goroutine at a time is at work: a simulation on virtual time by a worker without
// fetchers or by several that take turns, or plain arithmetic. It does so with -short, by which make race runs: under the race
// detector such a test takes ten times as long and has nothing to show, because whatever it does is in order. make unit runs it
// in full. Tests of which two goroutines share anything, be it a test's table, are not to call it, nor are those that are
// quick: they show that the rest works under the race detector too.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine at a time is at work here: left out with -short")
	}
}
