// Package models holds the nouns of the daemon and the Store that keeps them.
//
// A Host is what is queued, a Page is what is kept fresh, a Visit is one attempt on a page, an Outcome is what the
// attempt learned, a Result is what one transaction writes about it, a Version is a body that was kept, a Link says
// that one page names another, an Event says that something happened that a sink may want to know.
//
// Nothing here decides anything: the scheduler says when, recrawl says what changed, models remembers.
//
// # Keys
//
// A host's ID is a hash of its name, a page's ID is a hash of its canonical URL, and a host's Bucket is a hash of its
// name into Buckets parts, fixed for life. All rows that belong to a host carry its bucket and every hot statement
// names it, which is what a sharded PostgreSQL routes by. IDs need no sequence, so a link can be written before its
// child is, on any node.
//
// # Leases
//
// A worker claims hosts. A claim gives the host a new LeaseToken (it only grows) and sets ReadyAt past the lease's
// end, so a worker that dies needs no rescuer: the host is simply ready again later. A Commit names the token; if the
// host has another one by then, the lease was lost and the result is discarded. The states of a host:
//
//	idle    LeaseUntil = 0        ReadyAt = max(OpenAt, BackoffUntil, earliest DueAt of its pages)
//	leased  LeaseUntil > now      ReadyAt = LeaseUntil + politeness delay
//	lost    0 < LeaseUntil ≤ now  ReadyAt as for leased; the next claim takes it over with a higher token
//
// Pages of a host are written by its lease holder alone, but for what may happen at any time: a page is discovered
// (inserted), brought forward (DueAt lowered) or rescheduled, a site is paused or resumed. All of them lock the host's
// row first, so that a release that recomputes ReadyAt never misses them. What brought a page forward while it was leased is over
// with its visit, and stays where the result is of none (Result.Wished), or began before somebody asked (Result.Outrun). Importance is set without that lock, because
// nothing follows from it here; no commit writes it.
//
// An idle host that waits for its pages alone (Host.Waits) and may be visited early (Host.Ahead) can be claimed before
// it is ready, for pages due until ClaimRequest.Ahead.
//
// On SQLite, which has one writer, a claim does not wait for its turn to write: it reads beside the transaction under way, and
// its leases are written with that one, of the hosts whose rows are still as it read them (rider, claimRiding). A commit of many
// results ends its transaction early where a claim waits for it.
//
// # One shard a transaction
//
// Where several servers share the database (Citus), a transaction is for the buckets of one shard: no server waits for
// another, and nobody commits in two phases. So is each statement in it, and it says the bucket of each table by a parameter:
// what it does not say, all shards are asked for. What a visit finds out about hosts of other shards (pages discovered,
// children brought forward) is written into the outbox with the visit, in its bucket, and delivered at once in transactions of
// the others' shards; a crash in between leaves it to Deliver, so each discovery is made at least once, and being made twice
// changes nothing. The server of a transaction's shard is asked directly where it answers (placement); all else goes through
// the coordinator. On one server, SQLite or PostgreSQL, one transaction writes all: there the disk's sync is what costs.
//
// # Knowledge and notes
//
// What is known of a host beyond its row travels with its lease: Commit writes it with the results, so one worker at a
// time changes it, and Host.Learned tells the next one whether what it remembers is still the newest. What all workers
// learn together lies in notes, small values that each merges its own part into.
//
// # Memories
//
// What tells content from noise lies in memories: a small value a page, for pages whose text has differed at least once,
// and two a host. They lie apart from the rows that every claim reads, because only a visit that finds other text asks
// for them. Commit writes them with the results, so the lease fences them; what a person decided (SetOrders) is a value
// of its own, which no visit writes. What the host's validators proved to be worth is in its row (Host.Trials), because
// every visit needs it.
//
// # Links
//
// The links of a page are one row, the keys of its children side by side (packChildren), because they are written and read
// together: a commit replaces them, a claim and a full crawl go from a parent to its children, importance passes over all of
// them. The other way, which parents a page has, is asked by a person alone (Parents) and reads the links of a bucket.
//
// # Prints
//
// Pages are filed in prints by the keys of what they say (Result.Filed), so that one look-up a batch (Twins) finds those that
// may say what another page says. A key's first byte is its bucket, so the filings of a page lie in other buckets than the
// page; a sharded server gets them as it gets discoveries. The store knows neither what a print means nor which pages are
// duplicates; who follows which page is filed in the same way. A filing may outlive what it says: whoever finds it looks at the page, and removes that of a page that is
// gone.
package models
