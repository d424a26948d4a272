package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"recrawld/internal/pgtest"
	"recrawld/models"
)

// failingOver is a recorder during whose next delivery something happens.
type failingOver struct {
	recorder
	next sync.Once
	then func()
}

func (f *failingOver) Deliver(ctx context.Context, events []models.Event) error {
	f.next.Do(f.then)
	return f.recorder.Deliver(ctx, events)
}

// publish has a server write an event of a page in bucket 3 as a commit does.
func publish(server *pgtest.Alone, page string) {
	server.Run(fmt.Sprintf(`WITH b AS (UPDATE buckets SET next_seq = next_seq + 1, mark = CAST(random() * 1e15 AS bigint) WHERE bucket = 3
		RETURNING next_seq - 1 AS seq, mark)
		INSERT INTO events (bucket, seq, at, kind, site_id, page_id, url, version, previous, not_before, not_after, status, content_type,
		last_modified, bytes, redirect_to, record_file, record_offset, record_length, mark)
		SELECT 3, seq, 1, 1, 1, 1, '%s', 1, 0, 0, 0, 200, '', '', 0, '', '', 0, 0, mark FROM b`, page))
}

// followed is a store on a server whose standby hears no more of it from some moment on.
type followed struct {
	*models.Store
	first, second *pgtest.Alone
}

// follow opens a store with one event, which the standby has.
func follow(t *testing.T) followed {
	t.Helper()
	open := func(dsn string) *models.Store {
		t.Helper()
		store, err := models.Open(t.Context(), dsn, models.Options{Conns: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		if err := store.Migrate(t.Context(), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		return store
	}
	first := pgtest.StartAlone(t)
	open(first.DSN())
	publish(first, "both have it")
	second := first.Standby()
	second.Run("ALTER SYSTEM SET primary_conninfo = ''")
	second.Run("SELECT pg_reload_conf()")
	second.Run("DO $$ BEGIN WHILE EXISTS (SELECT FROM pg_stat_wal_receiver) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$")
	return followed{open(first.DSN(second)), first, second}
}

// failOver has the standby take the place of the server, and the store know that.
func (f followed) failOver(t *testing.T) {
	f.first.End(syscall.SIGQUIT)
	f.second.Run("SELECT pg_promote()")
	for range 20 { // connections that are dead are found one by one
		_, read := f.Meta(t.Context(), "seen")
		_, wrote := f.SetMeta(t.Context(), "seen", "", "yes")
		if errors.Join(read, wrote) == nil {
			return
		}
	}
	t.Error("the store does not find the server that was promoted")
}

// The server dies when events were delivered that its standby never had. What is written to that one then has their numbers, and is
// delivered all the same.
func TestNothingIsLostWhenAStandbyLacksWhatWasDelivered(t *testing.T) {
	t.Parallel()
	f := follow(t)
	publish(f.first, "the standby lacks it")
	s := &failingOver{then: func() {
		f.failOver(t)
		publish(f.second, "written instead")
	}}
	drain := drainOf(f, s, "w", 10)
	once := func() {
		t.Helper()
		for range 20 {
			if _, err := drain.Once(t.Context()); err == nil {
				return
			}
		}
		t.Error("the drain does not go on")
	}
	once()
	publish(f.second, "written next")
	once()
	for _, page := range []string{"both have it", "the standby lacks it", "written instead", "written next"} {
		if !slices.ContainsFunc(s.seen(), func(e string) bool { return strings.HasSuffix(e, " "+page) }) {
			t.Errorf("delivered %q, without %q", s.seen(), page)
		}
	}
	if news, err := f.News(t.Context(), s.Name()); len(news) > 0 || err != nil {
		t.Errorf("the sink is behind in buckets %v, %v", news, err)
	}
}
