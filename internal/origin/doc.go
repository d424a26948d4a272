// Package origin is a web server that replays how pages changed: a World of hosts and pages with their versions over
// time, served on loopback by a clock that may run a million times too fast, and a Log of every request with what was
// answered. Tests and the demo run the daemon against it and then compare what the daemon says with what it was shown.
//
// Nothing in it is of use to a running daemon.
package origin
