package scheduler

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

// TestFailedReadKeepsKnowledge: one failed read of a host's knowledge does not replace what is stored.
func TestFailedReadKeepsKnowledge(t *testing.T) {
	t.Parallel()
	m := NewMind(failingKnowledge{})
	h := &models.Host{Bucket: 1, ID: 7, Name: "h", Pages: 40, Learned: 12}
	if err := m.open(t.Context(), h); err == nil {
		t.Fatal("want an error")
	}
	visitSome(m, h, 10)
	if body := m.save(h, noon); body != nil {
		t.Errorf("%d bytes of ten lessons replace what twelve writings had", len(body))
	}
}

type failingKnowledge struct{ Store }

func (failingKnowledge) Knowledge(context.Context, int16, int64) ([]byte, int32, error) {
	return nil, 0, errors.New("busy")
}

func visitSome(m *Mind, h *models.Host, n int) {
	s := config.Default().Defaults
	s.Policy = policy.AdaptiveName
	for i := range n {
		p := models.Page{Bucket: h.Bucket, HostID: h.ID, ID: int64(i), URL: "http://h/x", FRMax: 1, Rule: models.RulePolicy}
		p.Stats.Records, p.Stats.FirstAt, p.Stats.VisitedAt = 2, models.At(noon.Add(-48*time.Hour)), models.At(noon.Add(-24*time.Hour))
		m.observed(question{page: &p, settings: &s, now: noon, cycle: time.Hour, ceiling: 1000 * time.Hour, even: 24 * time.Hour}, true, false)
	}
}

// TestHoursAreToldWhenTheyAreWritten: what a host's visits say of hours joins what is known of all hosts together with the writing of
// its knowledge: lessons that a crash loses are learned again, and would be told again.
func TestHoursAreToldWhenTheyAreWritten(t *testing.T) {
	t.Parallel()
	m := NewMind(&oneHost{})
	h := &models.Host{Bucket: 1, ID: 7, Name: "h", Pages: 1600, LeaseToken: 1}
	if err := m.open(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	s := config.Default().Defaults
	s.Policy = policy.AdaptiveName
	for i := range 120 { // a change at six each morning
		now := noon.AddDate(0, 0, i)
		p := models.Page{Bucket: h.Bucket, HostID: h.ID, ID: int64(i), URL: "http://h/x", FRMax: 1, Rule: models.RulePolicy}
		p.Stats.Records, p.Stats.FirstAt, p.Stats.VisitedAt = 2, models.At(noon.AddDate(0, 0, -9)), models.At(now.Add(-30*time.Hour))
		m.observed(question{page: &p, settings: &s, now: now, dated: now.Add(-6 * time.Hour), cycle: time.Hour, ceiling: 1000 * time.Hour,
			even: 24 * time.Hour}, true, false)
	}
	if hours := m.crowds[hostKey{1, 7}].Hours(m.weights); hours.Count == 0 {
		t.Fatalf("hours %+v of a host that changes at six each morning", hours)
	}
	learned, _ := m.weights.MarshalBinary()
	if m.save(h, noon) == nil {
		t.Fatal("nothing is written")
	}
	if told, _ := m.weights.MarshalBinary(); bytes.Equal(learned, told) {
		t.Error("what is written of the host is not told, or was before")
	}
	learned, _ = m.weights.MarshalBinary()
	m.crowds[hostKey{1, 7}].lessons = 100
	if m.save(h, noon) == nil {
		t.Fatal("nothing is written")
	}
	if told, _ := m.weights.MarshalBinary(); !bytes.Equal(learned, told) {
		t.Error("what was told is told again")
	}
}

// TestForgetsNobodyAtWork: the hosts that are being visited are not forgotten.
func TestForgetsNobodyAtWork(t *testing.T) {
	t.Parallel()
	m := NewMind(failingKnowledge{})
	h := &models.Host{Bucket: 1, ID: 7, Name: "h", Pages: 400}
	if err := m.open(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	visitSome(m, h, 10)
	was := m.crowds[hostKey{1, 7}]
	for i := range int64(crowdsKept) {
		other := &models.Host{Bucket: 2, ID: i, Name: "o"}
		if err := m.open(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // they were saved at some time
			m.crowds[hostKey{2, i}].saved = noon
		}
	}
	if m.crowds[hostKey{1, 7}] != was {
		t.Errorf("a host with lessons that are not written is forgotten while it is visited; what is learned next replaces what is stored")
	}
}

// TestTwoWorkersByTurns: two workers that learn on one host by turns lose nothing.
func TestTwoWorkersByTurns(t *testing.T) {
	t.Parallel()
	store := &oneHost{}
	a, b := NewMind(store), NewMind(store)
	h := &models.Host{Bucket: 1, ID: 7, Name: "h", Pages: 1600} // written after 100 lessons of one worker
	lessons := 0
	for turn := range 40 {
		m := []*Mind{a, b}[turn%2]
		h.LeaseToken++
		if err := m.open(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		visitSome(m, h, 9)
		lessons += 9
		if body := m.save(h, noon); body != nil {
			store.body, h.Learned = body, h.Learned+1
			store.learned = h.Learned
		}
	}
	if err := a.open(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	kept := a.crowds[hostKey{1, 7}].MarshalBinary
	single := NewMind(&oneHost{})
	if err := single.open(t.Context(), &models.Host{Bucket: 1, ID: 7}); err != nil {
		t.Fatal(err)
	}
	visitSome(single, h, lessons)
	got, want := pageDays(t, kept), pageDays(t, single.crowds[hostKey{1, 7}].MarshalBinary)
	if got < 0.99*want {
		t.Errorf("of %v page-days that two workers saw by turns, %v are known", want, got)
	}
}

// pageDays is how many days of pages a crowd has seen, which it writes behind its form and its changes.
func pageDays(t *testing.T, marshal func() ([]byte, error)) float64 {
	t.Helper()
	body, err := marshal()
	if err != nil {
		t.Fatal(err)
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(body[13:]))
}

// oneHost is what a store knows of one host.
type oneHost struct {
	Store
	body    []byte
	learned int32
	reads   int
}

func (o *oneHost) Knowledge(context.Context, int16, int64) ([]byte, int32, error) {
	o.reads++
	return o.body, o.learned, nil
}

// TestLostWritingIsReadAgain: where a result with knowledge was lost and another worker wrote since as often, its knowledge
// counts.
func TestLostWritingIsReadAgain(t *testing.T) {
	t.Parallel()
	store := &oneHost{}
	m, other := NewMind(store), NewMind(store)
	h := &models.Host{Bucket: 1, ID: 7, Name: "h", Pages: 16, LeaseToken: 1}
	turn := func(m *Mind) []byte {
		if err := m.open(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		visitSome(m, h, 5)
		defer m.leave(h)
		return m.save(h, noon)
	}
	if turn(m) == nil {
		t.Fatal("nothing is written")
	}
	h.LeaseToken++ // what was written is lost with the lease
	store.body, store.learned, h.Learned = turn(other), 1, 1
	h.LeaseToken++
	if err := m.open(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if store.reads != 1 {
		t.Errorf("what the other worker wrote was read %d times, want once", store.reads)
	}
}

// TestLittleKnowledgeIsKept: what few lessons taught is written too, in time.
func TestLittleKnowledgeIsKept(t *testing.T) {
	t.Parallel()
	m := NewMind(&oneHost{})
	m.alone = true
	h := &models.Host{Bucket: 1, ID: 7, Name: "h", Pages: 3, LeaseToken: 1}
	if err := m.open(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	for i, now := range []time.Time{noon, noon.Add(time.Hour), noon.Add(25 * time.Hour)} {
		visitSome(m, h, 1)
		if got, want := m.save(h, now) != nil, i != 1; got != want {
			t.Errorf("at %v written: %v, want %v", now, got, want)
		}
	}
}

// TestPriceThatBecomesKnown: a price that becomes known while the database's is read is one of the two.
func TestPriceThatBecomesKnown(t *testing.T) {
	t.Parallel()
	mine := new(price)
	old := *mine
	var other price
	other.learn(0.1, 0)
	written := old.merged(other.merged(nil))
	mine.learn(0.2, 0) // a fetcher, meanwhile
	mine.follow(written, old)
	if v := mine.value(); v < 0.09 || v > 0.21 {
		t.Errorf("of the prices 0.1 and 0.2 came %v", v)
	}
	old = *mine
	mine.learn(0.2, 0)
	learned := mine.log - old.log
	mine.follow(old.merged(written), old)
	if got := mine.log - mine.base.log; got != learned {
		t.Errorf("of what was learned meanwhile, %v, %v is kept", learned, got)
	}
}

// TestPricesOfManyWorkersMeet: workers that learn a lot between two merges learn the same, which counts once and not as often as
// there are workers.
func TestPricesOfManyWorkersMeet(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2, 3, 16} {
		var note []byte
		prices := make([]price, workers)
		for i := range prices {
			prices[i].learn(0.01, 0)
		}
		for round := range 5 {
			for i := range prices {
				for range 200 {
					prices[i].learn(1, 0)
				}
			}
			for i := range prices {
				p, old := &prices[i], prices[i]
				note = old.merged(note)
				p.learn(1, 0) // meanwhile
				p.follow(note, old)
			}
			if sum, _ := decodePriceNote(note); math.Abs(sum.log) > 0.05 {
				t.Fatalf("%d workers, of whom each saw visits worth 1, make it e^%.2f in round %d", workers, sum.log, round)
			}
		}
	}
}

// TestPriceIsSlowWherePagesLieOnManyHosts: what one host's news make worth e times as much for a fiftieth of the pages moves
// the price of all others' places little, once it was learned from visits enough, and a restart does not make it quick.
func TestPriceIsSlowWherePagesLieOnManyHosts(t *testing.T) {
	t.Parallel()
	const pages = 3000
	p := new(price)
	p.learn(0.01, 0)
	for range 200 {
		p.learn(1, pages)
	}
	if math.Abs(p.log) > 0.1 {
		t.Errorf("after 200 visits worth 1 a new price is e^%.2f", p.log)
	}
	for range 2 * pages {
		p.learn(1, pages)
	}
	restarted := new(price)
	restarted.follow(p.merged(nil), *restarted)
	older := new(price)
	older.follow(p.merged(nil)[:8], *older) // a note of a release that did not count visits
	alone := *p
	for name, q := range map[string]*price{"price": p, "price after a restart": restarted, "price of an older release": older} {
		for range pages / 50 {
			q.learn(math.E, pages)
		}
		if q.log < 0.15 || q.log > 0.2 {
			t.Errorf("the %s moved by %.2f", name, q.log)
		}
	}
	for range pages / 50 {
		alone.learn(math.E, 0)
	}
	if alone.log < 0.9 {
		t.Errorf("where one host has them all the price moved by %.2f alone", alone.log)
	}
}

// TestVisitsOfAllWorkersCountOnce: what a price was learned from adds up over workers.
func TestVisitsOfAllWorkersCountOnce(t *testing.T) {
	t.Parallel()
	var note []byte
	workers := make([]price, 3)
	for i := range workers {
		workers[i].learn(1, 0)
	}
	for range 4 {
		for i := range workers {
			p := &workers[i]
			for range 10 {
				p.learn(1, 1000)
			}
			old := *p
			note = old.merged(note)
			p.learn(1, 1000) // meanwhile
			p.follow(note, old)
		}
	}
	for i := range workers {
		note = workers[i].merged(note)
	}
	if sum, _ := decodePriceNote(note); sum.visits != 3*4*11 {
		t.Errorf("of 132 visits %v are counted", sum.visits)
	}
}

// TestWhatAHostIsLateWithCostsOthersNothing: that pages which a list told of wait for their host says nothing of the budget, and
// what does raises the price no further than any visit can be worth.
func TestWhatAHostIsLateWithCostsOthersNothing(t *testing.T) {
	t.Parallel()
	m := NewMind(nil)
	s := config.Default().Defaults
	s.Policy = policy.AdaptiveName
	p := livePage()
	p.Rule, p.DueAt, p.ToldAt = models.RuleSitemap, models.At(noon.Add(-5*time.Hour)), models.At(noon.Add(-5*time.Hour))
	q := question{page: &p, settings: &s, now: noon, cycle: time.Hour, ceiling: 1000 * time.Hour, even: 24 * time.Hour, told: true}
	m.price(allSites).learn(1, 0)
	for range 10_000 {
		m.observed(q, true, true)
	}
	if got := m.price(allSites).value(); got != 1 {
		t.Errorf("ten thousand visits that waited for their host move the price from 1 to %v", got)
	}
	m = NewMind(nil)
	m.price(allSites).learn(1, 0)
	c := m.crowdOf(&p)
	p.Evidence = models.Evidence{Changes: 4, Days: 40}
	for range 10_000 {
		m.served(c, &q, 1, false)
	}
	worth := m.gain(c, &q) * m.price(allSites).value()
	if got := m.price(allSites).value(); got < 2 || got < worth || got > worth*math.Exp(priceStep) {
		t.Errorf("ten thousand late visits to a page worth %v days move the price from 1 to %v, want it there", worth, got)
	}
}

// What was learned is shared though the clock was set back since it was shared last.
func TestMindSharesAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	m := NewMind(new(notes))
	if err := m.share(t.Context(), noon.Add(time.Hour), shareEvery); err != nil {
		t.Fatal(err)
	}
	m.lessons = 1
	if err := m.share(t.Context(), noon, shareEvery); err != nil {
		t.Fatal(err)
	}
	if !m.shared.Equal(noon) {
		t.Errorf("what was learned after the clock was set back waits until %v, an hour later", m.shared)
	}
}
