package scheduler_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/models"
)

// Of visits to a host at a time the one that ends last may have begun with less: what another remembered of the host
// after it stays. Each turn brings the host as the result before left it.
func TestNewestHostMemoryStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, 5, time.Now())
		s.config.Sites[0].Settings.Delay, s.config.Sites[0].Settings.Concurrency = 0, 4
		var turns atomic.Int64
		s.visit = func(ctx context.Context, turn models.Turn) models.Outcome {
			n := turns.Add(1)
			if turn.Host.LeaseToken == 0 {
				t.Error("a turn without the token of its lease")
			}
			if n == 2 && turn.Host.Trials.By[models.HintETag].Hits != 1 {
				t.Errorf("the second turn does not know what the first found: %+v", turn.Host.Trials)
			}
			out := takes(time.Duration(10-n)*time.Second)(ctx, turn)
			out.HostMemory, out.HostTurn = fmt.Appendf(nil, "after %d", n), n
			out.Findings = []models.Finding{{Hint: models.HintETag, Verdict: models.HintHit}}
			return out
		}
		s.run(50 * time.Second)
		p := s.page("http://h0.test/0")
		memory, err := s.store.Memory(t.Context(), p.Bucket, p.HostID, models.HostMemoryID)
		if err != nil || string(memory) != "after 5" {
			t.Errorf("memory of the host %q, %v, want what was remembered last", memory, err)
		}
	})
}
