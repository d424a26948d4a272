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
// WARC-Concurrent-To it. A body that the archive holds already is a revisit record of the identical-payload-digest
// profile that refers to the first response by URL and date. For a revisit, Append returns the Record of that first
// response: a version always leads to a body in one hop, and revisit records are there for other WARC tools alone.
//
// # What may go wrong
//
// A crash leaves a torn tail: Open scans the worker's own open segments and cuts them after the last whole record.
// Only what was never acknowledged can lie behind it, because Sync comes before the database is told. A damaged place
// in the middle, with whole records after it, is left as it is. A failed write (a full disk) is cut off again and the
// error returned; later appends work once there is space. A failed fsync is final: what the kernel dropped cannot be
// known, so the archive refuses to go on.
//
// # The library
//
// Records are built, checked and serialised by nlnwa/gowarc. Measured with the benchmarks of this package (one core of
// a busy 2-core Xeon server, 8 KiB HTML pages, sha256, gzip level 1): the library makes and packs 7,000 records/s
// (57 MB/s), against 21,000 (172 MB/s) for hashing and packing the same bytes and nothing else; Append, which adds the
// request record and the file, takes 3,700 versions/s (31 MB/s), and Read gives back 8,400 (69 MB/s). That is more than
// versions appear, and building and packing run outside the lock, so it grows with the cores.
// Its WarcFileWriter is not used: it picks names and times by itself, opens paths outside os.Root and has no way to sync
// several records at once. Its reader serves the tests only: v2.0.1 panics on a damaged record ("WARC/" and a bare line
// feed), and reading by another program than the one that wrote is a check in itself.
package archive
