package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// Mind is what a worker knows for the adaptive policy: of the hosts it holds, of all pages together, and what a visit
// must be worth. What it learns of a host travels with the host's lease; what it learns of all is merged into notes of
// the database, where what several workers learned adds up. It is safe for concurrent use.
type Mind struct {
	store Store

	mu        sync.Mutex
	weights   *changerate.Weights
	base      *changerate.Weights   // guarded by mu; what of the weights the database's note has
	prices    map[string]*price     // guarded by mu; by budget
	crowds    map[hostKey]*crowd    // guarded by mu
	leadTerms map[string]*leadTerms // guarded by mu; by budget
	lessons   int                   // guarded by mu; since the last sync
	shared    time.Time             // guarded by mu; the last sync
	alone     bool                  // no other worker learns beside this one
	walked    walked                // for a person

	judged     changerate.Foresight   // guarded by mu; how good the forecasts were
	others     changerate.Calibration // guarded by mu; how good those of others were, and those made before the start
	correction changerate.Correction  // guarded by mu; of the forecasts, by all of them
	unjudged   int                    // guarded by mu; forecasts that were judged since it was worked out

	made, corrected tally // what of judged is in the database

	subject changerate.Subject // guarded by mu; the page that is looked at
	reading changerate.Reading // guarded by mu; what is made of it
	placed  int                // guarded by mu; pages whose place is remembered, at least
	aside   place              // guarded by mu; of a page whose place is not
}

type hostKey struct {
	bucket int16
	id     int64
}

// crowd is what is known of one host's pages. It is used by the holder of the host's lease alone.
type crowd struct {
	*changerate.Crowd
	learned int32 // Host.Learned of what was read or written last
	token   int64 // of the last lease of the host that was held here
	inUse   bool  // a lease is held
	unread  bool  // what the database has could not be read: what is here must not replace it
	shared  bool  // somebody else had the host since our last lease
	lessons int   // since it was read or written
	saved   time.Time
	since   int           // lessons since the host's pages were last walked
	walked  time.Time     // when they were
	rest    time.Duration // for which they are not, since then
	payer   string        // the budget that paid for the last visit
	asked   float64       // what a visit had to be worth, as a logarithm, when they were all placed anew
	trusted tellers       // who is believed when he tells of changes of its pages
	whole   float64       // how many of its unchanged pages with validators are sent whole of late, as a share
	premium float64       // how much more than the price a visit must be worth here, as a logarithm: the host is short of visits

	unsaved []ledVisit        // that were learned from since it was written
	asks    map[int32]float64 // see changerate.Crowd.LeadsAsk; nil: not worked out

	company map[int64]float64 // of the pages that are visited with the robots.txt fetched last, as a logarithm: what a visit costs beside one alone
	party   int               // how many pages were visited when robots.txt was fetched last; 0: not known
	places  map[int64]*place  // of its pages, by their IDs
}

// NewMind returns a mind that knows what the defaults say.
func NewMind(store Store) *Mind {
	w := changerate.Defaults()
	return &Mind{store: store, weights: w, base: w.Clone(), prices: make(map[string]*price), crowds: make(map[hostKey]*crowd),
		leadTerms: make(map[string]*leadTerms)}
}

// open makes ready what is known of a leased host. Where the database cannot be asked, what is remembered must do.
func (m *Mind) open(ctx context.Context, h *models.Host) error {
	c, stale := m.enter(h)
	if !stale {
		return nil
	}
	var body []byte
	learned := h.Learned
	if learned > 0 {
		var err error
		if body, learned, err = m.store.Knowledge(ctx, h.Bucket, h.ID); err != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			c.unread = true
			return fmt.Errorf("read what is known of %s: %w", h.Name, err)
		}
	}
	known := new(changerate.Crowd)
	var broken error
	if len(body) > 0 {
		if err := known.UnmarshalBinary(body); err != nil {
			known = new(changerate.Crowd) // it is learned anew
			broken = fmt.Errorf("what is known of %s: %w", h.Name, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c.Crowd, c.learned, c.lessons, c.unread, c.asks = known, learned, 0, false, nil
	for _, l := range c.unsaved {
		l.teach(c)
	}
	return broken
}

// enter is what is remembered of a host, from now on in use, and whether it must be read. It is as it was left where
// nobody wrote since; nor can our own last writing have been lost, unless somebody had the host in between.
func (m *Mind) enter(h *models.Host) (c *crowd, stale bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := hostKey{h.Bucket, h.ID}
	c, met := m.crowds[key]
	if !met {
		if len(m.crowds) >= crowdsKept {
			m.forget()
		}
		c = &crowd{Crowd: new(changerate.Crowd)}
		m.crowds[key] = c
	}
	c.inUse = true
	c.trusted = tellersOf(h)
	c.shared = h.LeaseToken != c.token+1
	c.token = h.LeaseToken
	return c, !met || c.unread || c.learned != h.Learned || c.shared && c.lessons == 0 && h.Learned > 0
}

// leave tells that a host is released.
func (m *Mind) leave(h *models.Host) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.crowds[hostKey{h.Bucket, h.ID}]; c != nil {
		c.inUse = false
	}
}

// crowdsKept is of how many hosts a worker remembers what is known, beside those that it has in use.
const crowdsKept = 4096

// forget drops half of the hosts that are not in use: those without lessons that are not written, and of these the ones
// that were saved the longest ago, come first. The caller holds mu.
func (m *Mind) forget() {
	idle := make([]hostKey, 0, len(m.crowds))
	for k, c := range m.crowds {
		if !c.inUse {
			idle = append(idle, k)
		}
	}
	slices.SortFunc(idle, func(a, b hostKey) int {
		x, y := m.crowds[a], m.crowds[b]
		return cmp.Or(cmp.Compare(min(x.lessons, 1), min(y.lessons, 1)), x.saved.Compare(y.saved))
	})
	for _, k := range idle[:(len(idle)+1)/2] {
		m.placed -= len(m.crowds[k].places)
		delete(m.crowds, k)
	}
}

// A host's knowledge is written after so many lessons, a share of its pages between two bounds: what a crash costs is less
// than that.
const (
	knowledgeShare = 16
	knowledgeLeast = 4
	knowledgeMost  = 256
)

// knowledgeAge is after how long it is written at the latest, where anything was learned.
const knowledgeAge = 24 * time.Hour

// save returns what is known of a host where it is time to write it, nil otherwise.
func (m *Mind) save(h *models.Host, now time.Time) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.crowds[hostKey{h.Bucket, h.ID}]
	if c == nil || c.unread || !c.ripe(h, now, m.alone) {
		return nil
	}
	c.Tell(m.weights)
	body, err := c.MarshalBinary()
	if err != nil {
		return nil
	}
	c.lessons, c.saved, c.unsaved = 0, now, nil
	c.learned++ // Commit counts it so
	return body
}

// ripe tells whether it is time to write what is known: after enough lessons or long enough, or at once where workers
// visit the host by turns, because each goes on from what the other wrote. Of a host with one page nothing is known that is
// not in the page's row. The caller holds the mind's mu.
func (c *crowd) ripe(h *models.Host, now time.Time, alone bool) bool {
	enough := min(max(int(h.Pages)/knowledgeShare, knowledgeLeast), knowledgeMost)
	switch {
	case c.lessons == 0:
		return false
	case c.lessons >= enough, c.shared && !alone:
		return true
	}
	return h.Pages > 1 && now.Sub(c.saved).Abs() >= knowledgeAge
}

// shareEvery is how often, in real time, workers merge what they learned of all pages together; or after so many lessons, or a cycle,
// which is shorter where the clock is fast.
const (
	shareEvery   = 10 * time.Second
	shareLessons = 4096
)

// share is sync where it is time for it: at the beginning, and then where something was learned.
func (m *Mind) share(ctx context.Context, now time.Time, every time.Duration) error {
	m.mu.Lock()
	first := m.shared.IsZero()
	wait := m.lessons == 0 || (m.lessons < shareLessons && (m.alone || now.Sub(m.shared).Abs() < every))
	if !first && wait {
		m.mu.Unlock()
		return nil
	}
	m.shared = now
	m.price(allSites)
	m.mu.Unlock()
	return m.sync(ctx)
}

// sync merges what was learned of all pages together into the notes of the database, and takes over what others did.
func (m *Mind) sync(ctx context.Context) error {
	m.mu.Lock()
	m.lessons = 0
	var accounts []string
	for name, p := range m.prices {
		if p.used {
			accounts = append(accounts, name)
		}
	}
	m.mu.Unlock()
	for _, name := range accounts {
		if err := m.syncPrice(ctx, name); err != nil {
			return fmt.Errorf("merge the price: %w", err)
		}
	}
	if err := m.syncWeights(ctx); err != nil {
		return fmt.Errorf("merge what was learned: %w", err)
	}
	if err := m.syncJudged(ctx); err != nil {
		return fmt.Errorf("merge how good the forecasts were: %w", err)
	}
	return nil
}

func (m *Mind) syncPrice(ctx context.Context, account string) error {
	m.mu.Lock()
	now := m.price(account)
	now.used = false
	mine := *now
	m.mu.Unlock()
	var written []byte
	err := m.store.Merge(ctx, models.NotePrice+account, func(old []byte) []byte {
		written = mine.merged(old)
		return written
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		now.used = true
		return err
	}
	now.follow(written, mine)
	return nil
}

// syncWeights merges the weights. A note that is not ours, of an older release for example, is replaced.
func (m *Mind) syncWeights(ctx context.Context) error {
	m.mu.Lock()
	mine := m.weights.Clone()
	m.mu.Unlock()
	var sum *changerate.Weights
	err := m.store.Merge(ctx, "weights", func(old []byte) []byte {
		sum = mine.Clone()
		if stored := changerate.Defaults(); len(old) > 0 && stored.UnmarshalBinary(old) == nil {
			sum = changerate.Merge(stored, m.base, mine)
		}
		body, err := sum.MarshalBinary()
		if err != nil {
			return nil
		}
		return body
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.weights = changerate.Merge(sum, mine, m.weights) // lessons since the copy was made
	m.base = sum
	return nil
}
