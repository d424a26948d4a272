// Package migrations holds the schema of the database as numbered steps, one set for each engine. A step that has been
// released is never edited: its checksum is kept in the databases that ran it. A change is a new step in both sets. Steps
// only add tables and columns with defaults, so that a backup of an earlier step can be restored; one that does more
// must teach models.Store.Restore about it.
//
// A step also keeps workers of two releases from working side by side. So what is written in a form that an earlier release cannot read, such
// as what is known of a host (changerate.Crowd), which it would begin anew and write over, comes with one, if need be of no more than SELECT 1.
//
// Units, on both engines: a moment is an integer of Unix milliseconds (models.Instant) and 0 means never; a duration is
// an integer of nanoseconds (time.Duration); a digest is 32 bytes or NULL; a list of page IDs is their decimal numbers,
// separated by commas. Times are always passed in: no statement asks the engine's clock.
//
// There is no foreign key from a page to its host and its site, nor from the history to its page: each would cost an
// index probe and a row lock a row on the hot path. The Store writes them in one transaction instead.
package migrations

import "embed"

// Files holds sqlite/NNNN_name.sql and postgres/NNNN_name.sql.
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS
