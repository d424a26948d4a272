// Package storetest is the suite that every store passes: one on SQLite, one on PostgreSQL, one in memory. What it says
// is what the worker, the sinks and the commands rely on.
package storetest

import (
	"context"
	"iter"
	"testing"
	"time"

	"recrawld/models"
	"recrawld/scheduler"
)

// Store is all that the daemon and its commands write through.
type Store interface {
	scheduler.Store

	SyncSites(ctx context.Context, now time.Time, sites []models.Site) ([]models.Site, error)
	AddSite(ctx context.Context, now time.Time, site models.Site) (models.Site, error)
	Sites(ctx context.Context) ([]models.Site, error)
	SetPaused(ctx context.Context, site int32, paused bool, now time.Time) error
	SetGuarded(ctx context.Context, site int32, since models.Instant, lossPerDay float32) error
	Approve(ctx context.Context, site int32, now time.Time) (held int, guarded bool, err error)
	RemoveSite(ctx context.Context, site int32, now time.Time) error
	ClearRemoved(ctx context.Context, now, before time.Time) (models.Cleared, error)
	VisitNow(ctx context.Context, now time.Time, bucket int16, page int64) error
	Announce(ctx context.Context, now time.Time, a models.Announcement, believed func(*models.Host) int) (models.Heard, error)
	Recover(ctx context.Context, now time.Time, owner string) (int, error)
	Memory(ctx context.Context, bucket int16, host, page int64) ([]byte, error)
	SetOrders(ctx context.Context, bucket int16, host int64, body []byte) error

	Unname(ctx context.Context, now models.Instant, bucket int16, ids []int64) (int, error)
	GiveUp(ctx context.Context, now, before models.Instant, bucket int16, ids []int64) (int, error)
	NameAgain(ctx context.Context, now models.Instant, bucket int16, ids []int64) (int, error)

	KeptVersions(ctx context.Context, site int32) iter.Seq2[models.Kept, error]
	LoseContents(ctx context.Context, lost []models.Kept) error
	LoseVersions(ctx context.Context, now time.Time, lost []models.Kept) (int, error)
	LostPages(ctx context.Context) (int64, error)
	FindVersions(ctx context.Context, some []models.Kept, to models.Content) error

	Events(ctx context.Context, bucket int16, after int64, limit int) ([]models.Event, error)
	News(ctx context.Context, sink string) ([]int16, error)
	Cursor(ctx context.Context, sink string, bucket int16) (int64, error)
	SetCursors(ctx context.Context, sink string, from map[int16]int64, to map[int16]models.EventRef) error
	PruneEvents(ctx context.Context, before time.Time, sinks []string, slice int) (int64, error)
	PruneVisits(ctx context.Context, before time.Time, slice int) (int64, error)

	Beat(ctx context.Context, w models.Worker) error
	Leave(ctx context.Context, name string) error
	Workers(ctx context.Context) ([]models.Worker, error)
	Meta(ctx context.Context, key string) (string, error)
	SetMeta(ctx context.Context, key, old, value string) (string, error)
	ForgetNote(ctx context.Context, name string) error
	PagesKnown(ctx context.Context) (int64, error)
	NewestInstant(ctx context.Context) (models.Instant, error)
	Dump(ctx context.Context) (models.Dump, error)
}

// Run runs the suite; open returns an empty store for one test.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, cases := range []map[string]func(*world){visiting(), telling(), naming(), losing(), guarding(), requiring(), learning()} {
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := &world{T: t, store: open(t), now: start}
				test(w)
				if err := checkCounts(t.Context(), w.store); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// checkCounts holds the counts that a store keeps of its pages against the pages.
func checkCounts(ctx context.Context, s Store) error {
	if c, ok := s.(interface{ CheckCounts(context.Context) error }); ok {
		return c.CheckCounts(ctx)
	}
	return nil // it counts when it is asked
}

// visiting is what every store does for the worker, the sinks and the commands.
func visiting() map[string]func(*world) {
	return map[string]func(*world){
		"the longest ready host is claimed first":          claimsInOrder,
		"two claimers never share a host":                  claimersShareNothing,
		"a lease has the due pages only":                   leaseHasDuePages,
		"a lease goes on with further pages":               furtherPages,
		"further pages have their shares":                  furtherShares,
		"a patient host gets one page":                     patientHostGetsOnePage,
		"a host without a due page is not leased":          corrects,
		"an expired lease is taken over":                   expiredLeaseIsTakenOver,
		"a late commit is refused, its batch is not":       lateCommitIsRefused,
		"a late commit hides no other":                     lostHidesNothing,
		"politeness holds past a lost lease":               politeAfterLostLease,
		"a release says when the host is ready":            releaseSaysWhenReady,
		"a host that is not released stays leased":         notReleasedStaysLeased,
		"a page is read back as it was written":            pageReadsBack,
		"a commit with an unknown end is repeated":         commitIsIdempotent,
		"two results of one page in a batch":               twoResultsOfOnePage,
		"robots come with the lease":                       robotsComeWithLease,
		"a body is known from its first record on":         contentsAreKept,
		"pages are found by the keys of what they say":     twinsAreFound,
		"keys are looked up as far as it pays":             twinsAreBounded,
		"filings of refused results are not written":       refusedFilings,
		"text that no engine takes is cleaned":             textIsCleaned,
		"the history adds up to daily sums":                dailySums,
		"pages looked at on a day, found or lost":          dailyLooks,
		"a discovered page is due":                         discoveredPageIsDue,
		"a discovery during a lease is not lost":           discoveryDuringLease,
		"a discovery leaves a known page alone":            discoveryKeepsKnown,
		"events have no gaps":                              eventsHaveNoGaps,
		"a sink finds its news":                            sinkFindsNews,
		"cursors are of the log":                           cursorsAreOfTheLog,
		"events are pruned below all cursors":              eventsArePruned,
		"events are pruned in their order":                 eventsArePrunedInOrder,
		"history is pruned but for the last row":           visitsArePruned,
		"sites follow the file":                            sitesFollowFile,
		"a site with another name in the file":             sitesRenamed,
		"pages a host are limited":                         pagesPerHost,
		"a big batch of pages":                             bigBatch,
		"pause and resume":                                 pauseAndResume,
		"a removed site leaves nothing":                    removeSite,
		"a removed site keeps its name as its events":      removedSiteKeepsItsName,
		"politeness holds past a removed page":             politeAfterRemoval,
		"nothing of a removed site is left in the end":     clearsRemoved,
		"politeness holds past a removed host":             politeAfterClearing,
		"a host that comes back is another one":            removedHostComesBack,
		"pages that a removed site got back are cleared":   clearsOrphans,
		"somebody asks for a page now":                     visitNow,
		"wishes outlive what is no visit":                  wishesOutliveWaiting,
		"wishes among several results of a page":           wishesAmongResults,
		"leases of a dead daemon are void":                 recovers,
		"hosts that were never visited are spared too":     newHostsAreSparedToo,
		"workers beat":                                     workersBeat,
		"one of many sets a value":                         metaIsSetOnce,
		"the newest moment":                                newestInstant,
		"claims and commits side by side":                  sideBySide,
		"discoveries and releases side by side":            discoveriesAndReleases,
		"the same new pages are found by many at a time":   sameDiscoveries,
		"a site is removed by many at a time":              sameRemovals,
		"hosts are cleared while pages are found on them":  clearsSideBySide,
		"a context that ended":                             endedContext,
		"nothing is ready":                                 nothingReady,
		"hosts of other buckets are left to other workers": bucketsAreKept,
	}
}

// telling is what it does for pages that others tell of: parents, duplicates, lists, publishers.
func telling() map[string]func(*world) {
	return map[string]func(*world){
		"links are replaced":                             linksAreReplaced,
		"the share of changed children":                  childShare,
		"children that are looked at rarely say nothing": childrenThatTell,
		"children are brought forward":                   childrenAreForwarded,
		"children just learned of are brought forward":   childrenJustLearnedAreForwarded,
		"duplicates are brought forward":                 duplicatesAreForwarded,
		"a list that goes to another site":               listGoesOn,
		"what a list tells of is brought forward":        toldPagesAreForwarded,
		"a list is believed as far as it is said":        listsAreBounded,
		"what a publisher announces is brought forward":  announcedPagesAreForwarded,
		"a publisher is believed as far as it is said":   announcementsAreBounded,
		"who asks during a visit is served by the next":  announcedWhileVisited,
	}
}

// learning is what it does for the adaptive policy and for telling content from noise.
func learning() map[string]func(*world) {
	return map[string]func(*world){
		"pages are claimed early":                          earlyPages,
		"what is ready is claimed before what is early":    readyComesBeforeEarly,
		"early visits are polite":                          earlyIsPolite,
		"the next page that may be early is named":         aheadNamesTheNext,
		"early visits side by side":                        earlySideBySide,
		"knowledge of a host is kept":                      knowledgeIsKept,
		"evidence is read back as it was written":          evidenceReadsBack,
		"the pages of a host are walked":                   hostPages,
		"pages are rescheduled":                            pagesAreRescheduled,
		"only pages that wait are rescheduled":             onlyWaitingPagesAreRescheduled,
		"pages are rescheduled where their rule lets them": rulesThatAreRescheduled,
		"pages of a leased host are rescheduled":           leasedHostIsRescheduled,
		"wishes are not rescheduled":                       wishesAreNotRescheduled,
		"sweeps and visits side by side":                   rescheduledSideBySide,
		"notes are merged":                                 notesAreMerged,
		"notes are merged side by side":                    mergedSideBySide,
		"links are listed in slices":                       linksAreListed,
		"importance is set":                                importanceIsSet,

		"memories are kept":                 memoriesAreKept,
		"orders are kept":                   ordersAreKept,
		"removed pages are forgotten":       removedPagesAreForgotten,
		"pages found anew are visited anew": pagesFoundAnewAreVisitedAnew,
		"trials come with the lease":        trialsAreKept,
	}
}
