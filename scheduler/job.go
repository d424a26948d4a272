package scheduler

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"recrawld/clock"
)

// Job is a chore: something to be done now and then beside the visits.
type Job struct {
	Name string
	Next func(now time.Time) time.Time // when to do it again; the zero time: never
	Run  func(ctx context.Context, now time.Time) error
}

// Every is a Job.Next for a fixed distance by the daemon's clock.
func Every(d time.Duration) func(time.Time) time.Time {
	return func(now time.Time) time.Time { return now.Add(d) }
}

// RunJobs does each job at its times, one goroutine a job so that a slow one delays no other, until the context ends
// and all have returned. A job that fails is logged and done again at its next time.
func RunJobs(ctx context.Context, clk clock.Clock, log *slog.Logger, jobs []Job) {
	var running sync.WaitGroup
	for _, j := range jobs {
		running.Go(func() {
			for next := j.Next(clk.Now()); !next.IsZero(); next = j.Next(clk.Now()) {
				if clk.SleepUntil(ctx, next) != nil {
					return
				}
				if err := j.Run(ctx, clk.Now()); err != nil && ctx.Err() == nil {
					log.Warn("chore did not succeed", "chore", j.Name, "err", err)
				}
			}
		})
	}
	running.Wait()
}
