package main

import (
	"testing"

	"recrawld/models"
)

// A size is shown of a copy, also of an empty one, and of nothing else: what is removed, or gone as a page is now, says nothing of it.
func TestSizesOfCopiesAlone(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]models.Event{
		"0 B": {Kind: models.EventChanged, Version: 2, Digest: models.DigestOf(nil)},
		"2 B": {Kind: models.EventNew, Version: 1, Digest: models.DigestOf([]byte("ab")), Bytes: 2},
		"":    {Kind: models.EventRemoved, Version: 2},
	} {
		d := eventTable([]models.Event{e}, filledNow, nil)
		for i, column := range d.Columns {
			if got := d.Rows[0][i].Text; column.Key == "bytes" && got != want {
				t.Errorf("of a page that is %s the size is %q, want %q", e.Kind, got, want)
			}
		}
	}
}

// What stands above the table counts the kinds that are asked for, as it counts the sites that are.
func TestCountsOfTheKindsAskedFor(t *testing.T) {
	t.Parallel()
	counts := map[int32]map[models.EventKind]int64{1: {models.EventNew: 3, models.EventChanged: 2, models.EventRefreshed: 1200}, 2: {models.EventChanged: 5}}
	for want, kinds := range map[string][]models.EventKind{
		"3 new, 7 changed, 1,200 refreshed": nil,
		"7 changed":                         {models.EventChanged, models.EventGone},
	} {
		if got := countWords(counts, nil, kinds); got != want {
			t.Errorf("of the kinds %v: %q, want %q", kinds, got, want)
		}
	}
}
