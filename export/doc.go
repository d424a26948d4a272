// Package export takes page versions out of the archive in the forms that other tools replay: a CDXJ index of the segments as they lie,
// one WARC file that stands for itself, or a WACZ package, which is such a file with its index and a list of its pages.
//
// # From versions to records
//
// What is exported are the versions that the database has, and nothing else that segments may hold: what was never committed, what
// belongs to removed sites. A version leads to the record of its body in one hop. Where that body was seen before, at another URL or
// another time, it has a revisit record of its own with the header of its own answer, and where that lies is not in the database:
// the segments that were written to at the time are looked through for it, by URL, digest and time. It is the last one at most a
// visit's length before the version; a version whose record is not found is exported with the header of its body's.
//
// # Steps
//
//	Add     versions ──────────► sorted by URL, digest, time
//	Write   revisit records ───► sorted by URL, digest, time
//	        both merged ───────► sorted by the place of the body: what shares a body stands together
//	        each body is read once, and what was captured of it written: records, index lines, pages
//	        index lines ───────► sorted by key and time
//
// Answers gives the bodies alone, with what a file needs of their headers: package folder makes of them what opens in a browser from disk.
//
// Each sort holds 16 MiB and a temporary file, so that memory does not grow with the number of versions.
//
// # What refers to what
//
// In a WARC file and a package every revisit record refers to a response in the same file, before it. Where the first record of a body is not
// among what is exported, the first capture that is becomes a response with its own header and that body, and the others refer to it.
// In an index such captures lead to the body's record itself: pywb and OutbackCDX show what lies at the place that a line names.
//
// Digests are those of the records, "sha256:" and hexadecimal digits: pywb compares them as texts, wabac.js (ReplayWeb.page) as
// well, and both find the response of a revisit by the URL and date that it refers to.
package export
