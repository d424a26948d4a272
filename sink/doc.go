// Package sink brings what happened to pages to where it is wanted: it drains the ordered event log into sinks, each
// from its own cursor.
//
// # Delivery
//
// Events reach a sink at least once, and those of a bucket in order; all events of a page lie in one bucket. A Drain
// takes a batch over many buckets, hands it to the sink, and moves the cursors in one transaction when the sink says
// that it is durable. A crash in between delivers the batch again, so a sink must take an event twice: it looks at
// what the event says and not at how often it comes.
//
// A sink is drained by one process at a time, by a lease in the database that is renewed before each batch. When its
// holder dies the lease runs out and another process goes on from the cursors. A holder that stalls for longer than
// the lease may be in the midst of a delivery. Where that could undo what its successor delivers, as in the mirror, the sink
// itself is locked for the length of a round: the successor waits until the holder goes on or dies, and reads what is left
// then.
//
// Where the database went back, as a standby that takes the place of its server may, it lacks the last events, and gives their numbers to
// others. So cursors move from where they were read, and only to an event that the database has, by its mark (models.EventRef): else
// the batch comes again, from where the cursors are there, and nothing is left out. What the sink holds beyond that no event may ever
// tell of. A Drain keeps in mind what it gave to its sink, holds it against the log when it renews the lease and where a cursor is
// not where it was, and has the sink made anew where something is missing: that is noted until it is done,
// whichever process does it (Lacked). Of what a process gave that died before it looked nobody knows.
//
// A page that the sink cannot take for a reason of the page's own, as where nobody may write its file, holds up no other: its
// events go into a row of the database before the cursors pass them (Withheld), newer ones of the page queue behind them, and
// all are tried again, ever less often. Where it cannot be the pages, since the whole sink fails or they are too many, everything
// waits. A release from before that row was delivers what is newer and leaves the row as it is: what waits would then come after what
// is newer than it. When such a release has drained the sink, make it anew (recrawld sink replay). Beside the files of a mirror with
// folded names it puts others: move that directory away, and it is made anew.
//
// A sink that has missed events, because it was off for longer than they are kept, or whose place is not the one that the
// cursors are of (another directory, or one that was emptied), or that is ahead of its database, is made anew from the present
// state of the pages.
//
// # Webhooks
//
// Webhook tells a receiver by POST, in batches of CloudEvents 1.0 that are signed as Standard Webhooks has it. Where the receiver does
// not take one it says itself when it is to be tried again (Later), and keeps its lease until then; where it is parked, it is not
// before it is made anew or its process begins anew. The row under TroubleKey tells others. It is made anew by being told of every
// page as it is, and of those of removed sites that it has not heard of (Tell), which goes on where it was when the receiver fails meanwhile.
//
// # Search servers
//
// Index keeps the documents of a search server as the pages are. A document says what its page says when it is sent, not what the event
// said, so one that comes twice does no harm, and a delivery tells of each page once. It is made anew by being told of every page (Tell), as a
// Webhook is; then it drops those of sites that it is given no more, too. A page that the server refuses by itself, or whose copy cannot be
// read, waits as a file of the mirror does. Too many of the latter hold it up for a day at most (Passed). The lease is renewed before each request, which has less time than is left of it then, so that
// who comes after a holder that stalled is not overwritten by it.
//
// # Digests
//
// A Digester tells once a period of all that happened in it; Letters is one, and sends a letter by mail or to a chat. Three writes make one of it: which events the
// period has, up to a number in each bucket, and when it ended (the row under PeriodsKey), before it is told; the cursors, when it is; and
// that it is over. Whoever finds the first without the third tells it again, unless the cursors say that it was told: with the same end, of
// which the letter's name is made, and the same events. So a letter may come twice, under one name, and none is left out. Its first period
// begins where the log ends then, and what is not told in a mail that failed is not added to it: the same name would stand for two mails.
// It is not made anew: a replay tries again at once.
//
// # The mirror
//
// Mirror keeps a tree of files that follows the pages. What it writes can be made again from the archive, so it syncs
// once a batch: bodies into files without a name (or temporary ones), one sync, names, the manifest's log, one sync, and only then the
// cursors move. A crash at any point leaves each file whole, old or new, and the batch comes again. What is in the
// tree, and what is said of it:
//
//	host/path…                       see Name; FoldedName in a mirror that began where the file system takes A and a for the same
//	.recrawl/manifest.ndjson         one line a URL: see Row
//	.recrawl/manifest.log            lines newer than those; later lines win, absent fields keep their value
//	.recrawl/SUMMARY.json            sums over manifest.ndjson
//	.recrawl/trash/DATE/host/path…   copies of pages that are gone or are not to be kept, by day, as long as they are kept
//	.recrawl/aside/…                 what stood where a file or directory of the mirror had to be
//	.recrawl/manifest.before         what the manifest said before it is made anew, until that has ended; then, if any, the files that no
//	                                 page has and that could not be taken away
//	.recrawl/tmp/                    files being written; swept at start
//	.recrawl/lock                    locked by the process that uses the tree
//	.recrawl/id                      what the tree is called in the database, to tell it from another one
//
// On Linux the files have no name before they are synced (O_TMPFILE), as far as the file system makes such and a sixteenth of
// the files that the process may have open goes. On ext4 the mirror's directory has the attribute T (see chattr), which gives
// each site a place of its own on the disk.
package sink
