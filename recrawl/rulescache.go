package recrawl

import (
	"container/list"
	"sync"

	"recrawld/models"
	"recrawld/recrawl/robots"
)

// cachedRules is how many compiled robots.txt files are kept.
const cachedRules = 256

// rulesCache keeps the compiled rules of the robots rows used last, by origin and time of fetching.
type rulesCache struct {
	mu     sync.Mutex
	byRow  map[rulesKey]*list.Element // guarded by mu
	recent *list.List                 // of *rulesEntry, the newest first; guarded by mu
}

type rulesKey struct {
	origin string
	goodAt models.Instant
}

type rulesEntry struct {
	key   rulesKey
	rules *robots.Rules
}

func newRulesCache() *rulesCache {
	return &rulesCache{byRow: make(map[rulesKey]*list.Element), recent: list.New()}
}

// of returns the rules of a row's body. They are compiled outside the lock, so that a large file holds up nobody else.
func (c *rulesCache) of(row *models.Robots) *robots.Rules {
	key := rulesKey{row.Origin, row.GoodAt}
	if rules := c.look(key); rules != nil {
		return rules
	}
	rules := robots.Parse(row.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byRow[key]; ok {
		return rules
	}
	c.byRow[key] = c.recent.PushFront(&rulesEntry{key, rules})
	if c.recent.Len() > cachedRules {
		oldest := c.recent.Back()
		c.recent.Remove(oldest)
		delete(c.byRow, oldest.Value.(*rulesEntry).key)
	}
	return rules
}

func (c *rulesCache) look(key rulesKey) *robots.Rules {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byRow[key]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*rulesEntry).rules
}
