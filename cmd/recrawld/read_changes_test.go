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
