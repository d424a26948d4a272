package main

import (
	"testing"
	"time"

	"recrawld/models"
)

func TestChildrenInWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	l := &look{now: now}
	p := models.Page{Children: 12, FullAt: models.At(now.Add(-24 * time.Hour)), Threshold: 400, Skips: 2}
	got := l.childrenWords(p, models.ChildShare{Known: 9, Changed: 3})
	want := "12 links, last read 24 h ago (Fri 20 Nov 12:00); of the 9 that lead deeper 3 changed since, " +
		"read again in full at 40 %, which was not so at its last 2 turns"
	if got != want {
		t.Errorf("childrenWords = %q, want %q", got, want)
	}
	if got, want := l.childrenWords(models.Page{}, models.ChildShare{}), ""; got != want {
		t.Errorf("childrenWords of a page without links = %q, want %q", got, want)
	}
}
