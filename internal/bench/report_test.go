package main

import (
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	t.Parallel()
	b := &bench{rounds: 2, span: time.Second, figures: []figure{
		{Row: "refresh, 20 hosts, sqlite", Who: us, Rate: 9000, CPU: 80, CPUOrigin: 20, RSS: 70},
		{Row: "refresh, 20 hosts", Who: "wget2", Rate: 10000, CPU: 75},
		{Row: "refresh, 20 hosts", Who: "wget2", Rate: 10000, CPU: 77},
		{Row: "refresh, 20 hosts, sqlite", Who: us, Rate: 12000, CPU: 90, CPUOrigin: 20, RSS: 70},
	}}
	const want = "| refresh, 20 hosts, sqlite | 10500 (9000–12000) | ≥ 10000: reached; aim 15000: not reached | 85 (20) |" +
		" 70 (70–70) | – | wget2 10000 | 1.05 (0.90–1.20) |"
	if got := b.table(); !strings.Contains(got, want) {
		t.Errorf("the table\n%s\nhas no line\n%s", got, want)
	}
}

func TestReplaceSection(t *testing.T) {
	t.Parallel()
	got, err := replaceSection([]byte("a\n"+sectionBegin+"old\n"+sectionEnd+"b\n"), "new\n")
	if want := "a\n" + sectionBegin + "new\n" + sectionEnd + "b\n"; string(got) != want || err != nil {
		t.Errorf("replaceSection = %q, %v, want %q", got, err, want)
	}
	if _, err := replaceSection([]byte("a\n"+sectionBegin), ""); err == nil {
		t.Error("a section without an end: no error")
	}
}
