package sink

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// TestCompactionsAddUp compacts a manifest again and again and compares what it says with what one that reads every row
// makes of the same events.
func TestCompactionsAddUp(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	url := func(i int) string { return fmt.Sprintf("https://a.org/%d?a=b&c=%d", i, i%3) }
	var rounds [][]models.Event
	for round := range 6 {
		var events []models.Event
		for i := range 12 {
			switch (i + round) % 4 {
			case 0:
				events = append(events, s.event(models.EventChanged, url(i+round), fmt.Sprint("body ", round*round, i), int32(round+1)))
			case 1:
				events = append(events, plain(models.EventGone, url(i), round))
			case 2:
				events = append(events, s.event(models.EventNew, "https://a.org/plain/"+fmt.Sprint(i*round), "plain", 1))
			}
		}
		rounds = append(rounds, events)
	}
	one, all := t.TempDir(), t.TempDir()
	known, again := openMirror(t, one, s), (*Mirror)(nil)
	for round, events := range rounds {
		again = openMirror(t, all, s) // knows no summary
		for _, m := range []*Mirror{known, again} {
			deliver(t, m, events...)
			if err := m.flush(); err != nil {
				t.Fatal(err)
			}
		}
		if round > 0 && known.manifest.sum == nil {
			t.Fatal("the summary is forgotten")
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(summaryOf(t, all), summaryOf(t, one)); d != "" {
			t.Fatalf("summaries differ after round %d (-want +got):\n%s", round, d)
		}
	}
	if d := cmp.Diff(rowsOf(t, all), rowsOf(t, one)); d != "" {
		t.Errorf("manifests differ (-want +got):\n%s", d)
	}
}

func summaryOf(t *testing.T, dir string) (s Summary) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLinesLongerThanTheBuffer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	var got []string
	err := eachLine(strings.NewReader("a\n"+long+"\nb\ncut"), func(line []byte) error {
		got = append(got, string(line))
		return nil
	})
	if want := []string{"a", long, "b"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%d lines, %v, want those of 1, %d and 1 bytes", len(got), err, len(long))
	}
}
