package e2e

import (
	"database/sql"
	order "encoding/binary" // the daemon is called binary here
	"math"
	"os"
	"strings"
	"time"

	"recrawld/models"
)

// learned is what a database says that the adaptive policy learned.
type learned struct {
	price    float64         // of a visit, as a logarithm
	days     float64         // page-days between visits that the weights of all pages were learned from
	hosts    map[int64]int32 // how often what is known of a host was written, where it is there
	records  map[int64]int32 // visits that saw the content, by page
	evidence int             // pages with evidence of their own
	visits   state
}

// readLearned reads what was learned, by plain SQL.
func (c *contestant) readLearned(db *sql.DB) learned {
	c.t.Helper()
	l := learned{hosts: map[int64]int32{}, records: map[int64]int32{}, visits: readState(c.t, db)}
	tx, err := db.BeginTx(c.t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		c.t.Fatal(err)
	}
	defer tx.Rollback()
	each(c.t, tx, "SELECT name, body FROM notes", func(scan func(...any) error) error {
		var name string
		var body []byte
		err := scan(&name, &body)
		switch {
		case name == "price/all" && len(body) == 16: // and from how many visits
			l.price = number(body[:8])
		case name == "weights" && len(body) > 21: // after a byte, a mark and the number of changes
			l.days = number(body[13:])
		}
		return err
	})
	each(c.t, tx, "SELECT h.id, h.learned FROM hosts h JOIN knowledge k ON k.bucket = h.bucket AND k.host_id = h.id WHERE length(k.body) > 0",
		func(scan func(...any) error) error {
			var id int64
			var times int32
			err := scan(&id, &times)
			l.hosts[id] = times
			return err
		})
	each(c.t, tx, "SELECT id, records, COALESCE(evidence_days, 0) FROM pages", func(scan func(...any) error) error {
		var id int64
		var records int32
		var days float64
		err := scan(&id, &records, &days)
		l.records[id] = records
		if days > 0 {
			l.evidence++
		}
		return err
	})
	return l
}

func number(b []byte) float64 { return math.Float64frombits(order.LittleEndian.Uint64(b)) }

// killOnce kills the daemon, reads what it left and starts it again. It returns when it was killed, too.
func (c *contestant) killOnce() (learned, time.Time) {
	c.t.Helper()
	c.running[0].alive()
	died := c.clock.Now()
	c.running[0].kill()
	left := c.readLearned(openDatabase(c.t, c.database()))
	c.running = c.running[:0]
	c.start()
	return left, died
}

// unshared is how long, in real time, a worker may keep what it learned of all pages together to itself, and some.
const unshared = 12 * time.Second

// checkLearned makes sure that what was learned before a kill was there and was used after it, but for lessons of the last
// seconds: every visit that was written counts as evidence of its page; what is known of hosts and of all pages together
// went on from where it was and did not begin anew.
func (c *contestant) checkLearned(left learned, died time.Time) {
	c.t.Helper()
	end := c.readLearned(openDatabase(c.t, c.database()))
	for when, l := range map[string]learned{"after the kill": left, "at the end": end} {
		if l.price == 0 || l.days == 0 || len(l.hosts) == 0 || l.evidence == 0 {
			c.t.Errorf("%s: price %v, %v page-days, %d hosts known, %d pages with evidence: want all of them", when, l.price, l.days,
				len(l.hosts), l.evidence)
		}
		for id, visits := range l.visits.visits {
			seen := int32(0)
			for _, v := range visits {
				if v.kind.Observed() || v.kind == models.Moved { // that a page leads elsewhere, or no longer does, is a change of it
					seen++
				}
			}
			if l.records[id] != seen {
				c.t.Errorf("%s: %s counts %d records, its history has %d", when, l.visits.pages[id].url, l.records[id], seen)
			}
		}
	}
	for id, times := range left.hosts {
		if end.hosts[id] < times {
			c.t.Errorf("what is known of host %d was written %d times before the kill, %d at the end", id, times, end.hosts[id])
		}
	}
	if text, err := os.ReadFile(c.running[0].log); err != nil || strings.Contains(string(text), "cannot be used") {
		c.t.Errorf("after the kill something could not be used (%v):\n%s", err, c.running[0].tail())
	}
	all, recent := c.taught(end, died)
	if lost := all - end.days; lost > recent+all/100 || end.days < left.days {
		c.t.Errorf("the weights were learned from %.0f page-days of %.0f, %.0f before the kill; the last seconds before it taught %.0f",
			end.days, all, left.days, recent)
	}
	c.report("killed at %s: %d pages with evidence, %d hosts known, %.0f page-days in the weights, price e^%.2f; at the end %d, %d, "+
		"%.0f (%.1f %% of all visits' lessons lost), e^%.2f", died.Format(time.DateOnly), left.evidence, len(left.hosts), left.days, left.price,
		end.evidence, len(end.hosts), end.days, 100*(1-end.days/all), end.price)
}

// taught is how many page-days lie between the visits of each page, in all, and up to the visits of the last seconds
// before a kill.
func (c *contestant) taught(l learned, died time.Time) (all, recent float64) {
	since := died.Add(-time.Duration(float64(unshared) * c.anchor.Speed))
	for _, visits := range l.visits.visits {
		var before time.Time
		for _, v := range visits {
			if !v.kind.Observed() {
				continue
			}
			at := v.at.Time()
			if !before.IsZero() {
				days := at.Sub(before).Hours() / 24
				if all += days; at.After(since) && at.Before(died) {
					recent += days
				}
			}
			before = at
		}
	}
	return all, recent
}
