package models

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkPrints files pages under three keys each in batches of 500, and looks up as many in an index of the pages filed
// so far: nanoseconds a page.
func BenchmarkPrints(b *testing.B) {
	const batch = 500
	s := openBackup(b, liteFile(b))
	fill := func() {
		var filed []Filing
		for range batch {
			id := rand.Int64()
			for range 3 {
				filed = append(filed, Filing{Key: int64(rand.Uint64()), PageBucket: int16(rand.IntN(Buckets)), PageID: id})
			}
		}
		err := s.inTx(b.Context(), func(t *tx) error {
			filing := []*Result{{Filed: filed}}
			c := commit{tx: t, results: filing, fresh: filing}
			return c.writeFilings(b.Context())
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("file", func(b *testing.B) {
		for i := 0; i < b.N; i += batch {
			fill()
		}
	})
	fill()
	b.Run("look up", func(b *testing.B) {
		for i := 0; i < b.N; i += batch {
			keys := make([]int64, 3*batch)
			for k := range keys {
				keys[k] = int64(rand.Uint64())
			}
			if _, err := s.Twins(b.Context(), keys); err != nil {
				b.Fatal(err)
			}
		}
	})
}
