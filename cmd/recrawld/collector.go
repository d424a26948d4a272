package main

import (
	"os"
	"runtime/debug"

	"recrawld/config"
)

// easeCollector lets the heap grow to five times what is alive before it is collected, where it is small: a daemon at
// full speed spends a fifth of its processor time on collecting otherwise. The limit keeps a heap that is large as it
// would be without. Whoever sets GOGC or GOMEMLIMIT knows better. The returned function undoes it.
func easeCollector(w *config.Worker) (undo func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	const base = 192 << 20
	percent := debug.SetGCPercent(400)
	limit := debug.SetMemoryLimit(base + w.Memory)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
