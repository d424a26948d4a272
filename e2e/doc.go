// Package e2e holds no code, only tests: they build the daemon as cmd does, run it as a process of its own against an
// origin that replays three years of real pages in about a minute, and compare what it stored with what it was shown. Beside that they let the policies follow the same months with one budget, and
// compare what each spent and how fresh its copies were.
//
// With -short nothing is replayed; RECRAWLD_KILLS sets how often the torture kills the daemon. The figures of a run are in its log: go test -v.
package e2e
