package sink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/smtptest"
	"recrawld/models"
)

// everySix tells at every full six hours, and keeps what it told.
type everySix struct {
	told  []toldPeriod
	fails error
}

// toldPeriod is a period that was told.
type toldPeriod struct {
	Period Period
	Events []string
}

func (*everySix) Name() string { return "mail:w" }
func (*everySix) Due(after time.Time) time.Time {
	return after.Truncate(6 * time.Hour).Add(6 * time.Hour)
}

func (s *everySix) Digest(_ context.Context, p *Period, events iter.Seq2[models.Event, error]) (string, error) {
	var got []string
	for e, err := range events {
		if err != nil {
			return "", err
		}
		got = append(got, fmt.Sprintf("%d/%d", e.Bucket, e.Seq))
	}
	s.told = append(s.told, toldPeriod{*p, got})
	return fmt.Sprint("memo of ", p.End.Unix()), s.fails
}

func digestsTo(log Log, s Digester, c clock.Clock) *Drain {
	return NewDigests(log, s, c, Options{Owner: "w", Batch: 2, Log: (&logged{}).logger()})
}

func drained(t *testing.T, d *Drain) int {
	t.Helper()
	n, err := d.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func pass(t *testing.T, c *clock.Virtual, d time.Duration) {
	t.Helper()
	if err := c.SleepUntil(t.Context(), c.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
}

// What was before the first period is not told; of each period all is, once, when it is over.
func TestAPeriodIsToldWhenItIsOver(t *testing.T) {
	t.Parallel()
	log, c, s := newMemory(), clock.NewVirtual(noon), &everySix{}
	d := digestsTo(log, s, c)
	log.add(1, models.Event{})
	drained(t, d)
	log.add(1, models.Event{}, models.Event{}, models.Event{})
	log.add(7, models.Event{})
	pass(t, c, 6*time.Hour-time.Second)
	drained(t, d)
	if len(s.told) > 0 {
		t.Fatalf("told before the period was over: %v", s.told)
	}
	pass(t, c, 4*time.Second)
	if n := drained(t, d); n != 4 {
		t.Errorf("Once = %d, want 4", n)
	}
	log.add(7, models.Event{})
	pass(t, c, 30*time.Hour) // nobody drained it meanwhile: one period, and the next ends at a full six hours as ever
	drained(t, digestsTo(log, s, c))
	drained(t, d)
	end := noon.Add(6*time.Hour + 3*time.Second)
	want := []toldPeriod{{Period{Told: noon, End: end}, []string{"1/2", "1/3", "1/4", "7/1"}},
		{Period{Told: end, End: end.Add(30 * time.Hour), Memo: fmt.Sprint("memo of ", end.Unix())}, []string{"7/2"}}}
	if diff := cmp.Diff(want, s.told); diff != "" {
		t.Errorf("-want +told:\n%s", diff)
	}
	row, err := PeriodsIn(log.meta[PeriodsKey("mail:w")])
	if next := noon.Add(42 * time.Hour); err != nil || !row.Next.Time().Equal(next) || row.Pending != nil {
		t.Errorf("noted is %+v, %v, want the next at %v", row, err, next)
	}
}

// A clock that steps back behind the beginning of a period begins it anew: mails do not stay away for as long as it was ahead.
func TestAPeriodBeginsAnewWhenTheClockStepsBack(t *testing.T) {
	t.Parallel()
	log, s := newMemory(), &everySix{}
	drained(t, digestsTo(log, s, clock.NewVirtual(noon.Add(365*24*time.Hour))))
	log.add(1, models.Event{})
	log.meta[LeaseKey("mail:w")] = LeaseFreed
	c := clock.NewVirtual(noon)
	drained(t, digestsTo(log, s, c))
	pass(t, c, 6*time.Hour)
	drained(t, digestsTo(log, s, c))
	if len(s.told) != 1 || len(s.told[0].Events) != 1 {
		t.Errorf("told was %v, want the event six hours later", s.told)
	}
}

// Events that were pruned before they were told are said to be missing, and the others told.
func TestADigestSaysWhatItMissed(t *testing.T) {
	t.Parallel()
	log, c, s := newMemory(), clock.NewVirtual(noon), &everySix{}
	d := digestsTo(log, s, c)
	drained(t, d)
	log.add(1, models.Event{}, models.Event{}, models.Event{})
	pass(t, c, 6*time.Hour)
	drained(t, digestsTo(lastOnly{log}, s, c))
	if len(s.told) != 1 || !s.told[0].Period.Missed || !slices.Equal(s.told[0].Events, []string{"1/3"}) {
		t.Errorf("told was %+v, want the last event and that others are missing", s.told)
	}
}

// lastOnly is a log of which only the last event of each bucket is left.
type lastOnly struct{ *memory }

func (p lastOnly) Events(ctx context.Context, bucket int16, after int64, limit int) ([]models.Event, error) {
	events, err := p.memory.Events(ctx, bucket, after, 1000)
	return events[max(0, len(events)-1):], err
}

// mortal is a log whose process dies at one of its writes: behind it, or before.
type mortal struct {
	*memory
	writes int // until it dies
	behind bool
}

var errKilled = errors.New("killed")

func (m *mortal) dies(write func() error) error {
	m.writes--
	if m.writes < 0 || m.writes == 0 && !m.behind {
		return errKilled
	}
	if err := write(); err != nil || m.writes > 0 {
		return err
	}
	return errKilled
}

func (m *mortal) SetMeta(ctx context.Context, key, old, value string) (now string, err error) {
	err = m.dies(func() (err error) { now, err = m.memory.SetMeta(ctx, key, old, value); return err })
	return now, err
}

func (m *mortal) SetCursors(ctx context.Context, sink string, from map[int16]int64, to map[int16]models.EventRef) error {
	return m.dies(func() error { return m.memory.SetCursors(ctx, sink, from, to) })
}

// Whenever its process is killed, each event is told, and what is told again is told as it was: with the same end, which the mail's name
// comes of, and the same events.
func TestFault_122_EachPeriodIsToldAcrossKills(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		log, c, s := newMemory(), clock.NewVirtual(noon), &everySix{}
		drained(t, digestsTo(log, s, c))
		added := map[int16]int{}
		for range rapid.IntRange(1, 6).Draw(rt, "periods") {
			for range rapid.IntRange(0, 5).Draw(rt, "events") {
				bucket := rapid.Int16Range(0, 2).Draw(rt, "bucket")
				log.add(bucket, models.Event{})
				added[bucket]++
			}
			pass(t, c, time.Duration(rapid.IntRange(1, 13).Draw(rt, "hours"))*time.Hour)
			dying := &mortal{memory: log, writes: rapid.IntRange(0, 6).Draw(rt, "writes"), behind: rapid.Bool().Draw(rt, "behind")}
			if _, err := digestsTo(dying, s, c).Once(t.Context()); err != nil && !errors.Is(err, errKilled) {
				rt.Fatal(err)
			}
			pass(t, c, 2*lease)
		}
		pass(t, c, 6*time.Hour)
		drained(t, digestsTo(log, s, c))
		drained(t, digestsTo(log, s, c))
		byEnd, told := map[time.Time]toldPeriod{}, map[string]time.Time{}
		for _, p := range s.told {
			if before, again := byEnd[p.Period.End]; again && !cmp.Equal(before, p) {
				rt.Fatalf("told again otherwise:\n%s", cmp.Diff(before, p))
			}
			byEnd[p.Period.End] = p
			for _, e := range p.Events {
				if end, before := told[e]; before && !end.Equal(p.Period.End) {
					rt.Fatalf("%s is told in two periods", e)
				}
				told[e] = p.Period.End
			}
		}
		for bucket, n := range added {
			for seq := range n {
				if e := fmt.Sprintf("%d/%d", bucket, seq+1); told[e].IsZero() {
					rt.Fatalf("%s was never told", e)
				}
			}
		}
	})
}

// mailTo are Letters to a server that says how many events there were, an hour after the last.
func mailTo(s *smtptest.Server, c clock.Clock) *Letters {
	post := &Post{Envelope: between, Server: config.MailServer{Host: "localhost", Port: 25}}
	if s != nil {
		post.Dial = postTo(s, post.Server, "").Dial
	}
	return NewLetters(LettersOptions{Name: "mail:w", Due: func(t time.Time) time.Time { return t.Add(time.Hour) }, Send: post.Send, Clock: c,
		Compose: func(_ context.Context, p *Period, events iter.Seq2[models.Event, error]) (*Letter, string, error) {
			n := 0
			for _, err := range events {
				if err != nil {
					return nil, "", err
				}
				n++
			}
			if n == 0 {
				return nil, "", nil
			}
			l := letter
			l.ID, l.Subject = fmt.Sprint("w-", p.End.Unix()), fmt.Sprint(n, " events")
			return &l, "", nil
		}})
}

// A server that puts mail off gets it later, under the same name, and then what came since, in a mail of its own; the sink says meanwhile
// what is in the way. Nothing happened: nothing is sent.
func TestFault_121_AMailThatIsPutOffComesLater(t *testing.T) {
	t.Parallel()
	s := smtptest.Start(t, smtptest.Options{Answer: func(stage, _ string, n int) string {
		if stage == "end" && n <= 3 {
			return []string{"451 4.3.0 later", smtptest.Hang, "452 4.3.1 full"}[n-1]
		}
		return ""
	}})
	log, c := newMemory(), clock.NewVirtual(noon)
	d := digestsTo(log, mailTo(s, c), c)
	drained(t, d)
	log.add(1, models.Event{})
	pass(t, c, time.Hour)
	for n := 1; n <= 3; n++ {
		later, ok := errors.AsType[*Later](func() error { _, err := d.Once(t.Context()); return err }())
		if !ok || later.parked() {
			t.Fatalf("put off: %v, want that it is tried again", later)
		} else if gap := later.At.Sub(c.Now()); gap < mailGapMin || gap > hookGapMax {
			t.Errorf("it is tried again after %v, want %v or more", gap, mailGapMin)
		}
		if trouble, err := TroubleIn(log.meta[TroubleKey("mail:w")]); err != nil || !trouble.Since.Time().Equal(noon.Add(time.Hour)) || trouble.Parked() {
			t.Errorf("the trouble noted is %+v, %v", trouble, err)
		}
		if _, err := d.Once(t.Context()); err == nil || len(s.Taken()) != n {
			t.Errorf("before its time: %v, %d mails, want %d", err, len(s.Taken()), n)
		}
		log.add(1, models.Event{}) // of the next mail
		if err := c.SleepUntil(t.Context(), later.At); err != nil {
			t.Fatal(err)
		}
	}
	drained(t, d)
	pass(t, c, time.Hour)
	drained(t, d)
	pass(t, c, time.Hour)
	drained(t, d)
	var got []string
	for _, m := range s.Taken() {
		h, _ := readMail(t, m.Data)
		got = append(got, subjectOf(t, h)+" "+h.Get("Message-Id"))
	}
	first := fmt.Sprintf("1 events <w-%d@example.net>", noon.Add(time.Hour).Unix())
	if len(got) != 5 || !slices.Equal(got[:4], []string{first, first, first, first}) || !strings.HasPrefix(got[4], "3 events <w-") {
		t.Errorf("mails were %q, want four times %q and then one of 3 events", got, first)
	}
}

// A mail that is refused for good waits for whoever mends what is wrong, and keeps its events; a replay tries again, and sends nothing else.
func TestFault_121_AMailThatIsRefusedIsParked(t *testing.T) {
	t.Parallel()
	mended := false
	s := smtptest.Start(t, smtptest.Options{Answer: func(stage, _ string, _ int) string {
		if stage == "rcpt" && !mended {
			return "550 5.1.1 who?"
		}
		return ""
	}})
	log, c := newMemory(), clock.NewVirtual(noon)
	d := digestsTo(log, mailTo(s, c), c)
	drained(t, d)
	log.add(1, models.Event{})
	pass(t, c, time.Hour)
	for range 2 {
		later, ok := errors.AsType[*Later](func() error { _, err := d.Once(t.Context()); return err }())
		if !ok || !later.parked() || !errors.Is(later, ErrUnwanted) {
			t.Fatalf("a refused mail: %v, want that it is parked", later)
		}
		pass(t, c, 100*time.Hour)
	}
	if trouble, err := TroubleIn(log.meta[TroubleKey("mail:w")]); err != nil || !trouble.Parked() || !strings.Contains(trouble.Why, "for team@example.net") {
		t.Errorf("the trouble noted is %+v, %v", trouble, err)
	}
	if err := d.Replay(t.Context(), log); err == nil || !strings.Contains(err.Error(), "who?") {
		t.Errorf("Replay before it is mended: %v", err)
	}
	mended = true
	if err := d.Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	if err := d.Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	if got := s.Taken(); len(got) != 1 || log.cursors[key("mail:w", 1)] != 1 {
		t.Errorf("%d mails came, the cursor is at %d; want one each", len(got), log.cursors[key("mail:w", 1)])
	}
	if trouble, err := TroubleIn(log.meta[TroubleKey("mail:w")]); err != nil || trouble.Since != 0 {
		t.Errorf("the trouble noted is %+v, %v, want none", trouble, err)
	}
}

// Of two processes one tells.
func TestOneOfTwoTells(t *testing.T) {
	t.Parallel()
	log, c, s := newMemory(), clock.NewVirtual(noon), &everySix{}
	mine := digestsTo(log, s, c)
	if err := mine.hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := NewDigests(log, s, c, Options{Owner: "x", Log: (&logged{}).logger()})
	if _, err := other.Once(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("the other: %v, want %v", err, ErrBusy)
	}
}

// counting is a Digester that leaves in its memo how many periods it told.
type counting struct{ everySix }

func (s *counting) Digest(ctx context.Context, p *Period, events iter.Seq2[models.Event, error]) (string, error) {
	if _, err := s.everySix.Digest(ctx, p, events); err != nil {
		return "", err
	}
	return p.Memo + "x", nil
}

// What a period left for the next one is not lost by a kill: what it told would be told again.
func TestFault_122_AMemoOutlivesAKill(t *testing.T) {
	t.Parallel()
	for writes := range 8 {
		log, c, s := newMemory(), clock.NewVirtual(noon), &counting{}
		drained(t, digestsTo(log, s, c))
		log.add(1, models.Event{})
		pass(t, c, 6*time.Hour)
		dying := &mortal{memory: log, writes: writes, behind: true}
		if _, err := digestsTo(dying, s, c).Once(t.Context()); err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		pass(t, c, 2*lease)
		drained(t, digestsTo(log, s, c))
		log.add(1, models.Event{})
		pass(t, c, 6*time.Hour)
		drained(t, digestsTo(log, s, c))
		if last := s.told[len(s.told)-1].Period; last.Memo != "x" {
			t.Errorf("killed behind write %d: the next period was given %q, want what the first one left", writes, last.Memo)
		}
	}
}

// A mail whose password was refused is sent once the file has another one: each is tried once, and by itself, also while the sink waits.
func TestFault_121_ANewPasswordIsTried(t *testing.T) {
	t.Parallel()
	s := smtptest.Start(t, smtptest.Options{User: "me", Password: "right"})
	log, c, password, read := newMemory(), clock.NewVirtual(noon), "wrong", 0
	secret := func() (string, error) {
		if read++; password == "" {
			return "", errors.New("it is being written")
		}
		return password, nil
	}
	m := mailTo(s, c)
	post := &Post{Envelope: between, Server: config.MailServer{Host: "localhost", Port: 25, User: "me"}, Password: secret}
	post.Dial = postTo(s, post.Server, "").Dial
	tries := 0
	m.options.Secret = secret
	m.options.Send = func(ctx context.Context, l Letter) error { tries++; return post.Send(ctx, l) }
	d := digestsTo(log, m, c)
	drained(t, d)
	log.add(1, models.Event{})
	pass(t, c, time.Hour)
	for n, next := range []string{"wrong", "", "wrong", "wrong again", "wrong again"} {
		password = next
		later, ok := errors.AsType[*Later](func() error { _, err := d.Once(t.Context()); return err }())
		if want := 1 + n/3; !ok || !later.parked() || tries != want {
			t.Fatalf("with the password %q it is tried %d times, %v; want %d times, and parked", next, tries, later, want)
		}
	}
	if why := log.meta[TroubleKey("mail:w")]; !strings.Contains(why, "asked again once that is another one") || !strings.Contains(why, "535") {
		t.Errorf("the trouble noted is %s", why)
	}
	_, err := d.Once(t.Context())
	later, _ := errors.AsType[*Later](err)
	password = "right"
	before := read
	if err := d.rest(t.Context(), later); err != nil || read == before {
		t.Fatalf("with another password it does not end to wait: %v", err)
	}
	drained(t, d)
	if len(s.Taken()) != 1 || tries != 3 {
		t.Errorf("%d mails came in %d tries, want one in three", len(s.Taken()), tries)
	}
}
