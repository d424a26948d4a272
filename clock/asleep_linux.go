package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep is how long the machine has slept since it began: one of two clocks goes on meanwhile (clock_gettime(2)).
func asleep() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}
