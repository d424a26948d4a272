// Package scheduler decides when a page is visited and runs the visits.
//
// The Worker claims ready hosts from the Store, asks the Visitor to visit their due pages one after the other, lets the
// Planner (pure) turn each outcome into the Result to be written, and hands it to the committer, which keeps the bodies
// in the Archive and commits the results in batches. The database is the only queue and the only place where workers
// meet; this package never sees HTTP, and the Store never decides.
//
// # Cycles, fr and fr_max
//
// A cycle is a length of time or a cron schedule. Each page has an interval of fr_max cycles; fr is the number of cycles
// left until it is due. fr is never counted down row by row: it is read off the due time (Calendar.CyclesUntil).
package scheduler
