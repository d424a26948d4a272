// Package archive keeps the bodies of page versions in append-only WARC/1.1 segments, one gzip member a record, and
// reads any of them back by file, offset and length.
//
// # Segments
//
// A segment is named recrawld-<worker>-<UTC time>-<serial>.warc.gz and begins with a warcinfo record. While it grows
// its file carries the suffix ".open"; closing it is fsync, rename, fsync of the directory. A models.Record names the
// segment without the suffix, so it stays valid across the rename: a reader looks for both names. Each worker writes
// only segments of its own name, so several workers share a directory. Two processes with one worker name would tear
// each other's tail; the caller holds a lock a worker against that.
//
// # Records
//
// A version is a response record (status line, header block and decoded body) followed by the request record that is
// WARC-Concurrent-To it; that one is short and stored without compression. A body that the archive holds already is a
// revisit record of the identical-payload-digest profile that refers to the first response by URL and date. For a revisit,
// Append returns the Record of that first response: a version always leads to a body in one hop, and revisit records are
// there for other WARC tools alone.
//
// What was appended last can be had from memory once (Options.Recent, Take), by a sink that writes it elsewhere a moment
// later; it is what Read would return, and shares the body that was appended.
//
// # What may go wrong
//
// A crash leaves a torn tail: Open scans the worker's own open segments and cuts them after the last whole record.
// Only what was never acknowledged can lie behind it, because Sync comes before the database is told. A damaged place
// in the middle, with whole records of this segment after it, is left as it is. A failed write (a full disk) is cut off again and the
// error returned; later appends work once there is space. A failed fsync is final: what the kernel dropped cannot be
// known, so the archive refuses to go on.
//
// What rots on the disk, or is removed there, is found by package verify: a Record that is known to be lost (models.Record.Lost) is damaged
// without a look.
//
// # The library
//
// nlnwa/gowarc is what the tests read our segments with, at its strictest; the records are serialised by this package
// (record.go). Measured with the benchmarks here, in CPU time of one core (Xeon, 8 KiB HTML pages, sha256, gzip
// level 1): a record built, serialised and packed takes 71 µs (14,000/s, 37 allocations), and 185 µs (5,400/s, 440
// allocations) through gowarc v2.0.1.
//
// Speed alone would not speak against the library. But each NewRecordBuilder sets a global of google/uuid without a
// lock, so records cannot be built at once without a data race, and its WarcFileWriter picks names and times by itself,
// opens paths outside os.Root and cannot sync several records at once. Its reader panics on a damaged record ("WARC/"
// and a bare line feed), so reading is ours too.
package archive
