package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/scheduler/changerate"
)

// The fits in the source are of the model as it is: the bench can score with them.
func TestKeptFitsAreOfThisModel(t *testing.T) {
	t.Parallel()
	f, err := readFits(keptFits)
	if err != nil {
		t.Fatal(err)
	}
	if f.all == nil || len(f.without) < 7 {
		t.Errorf("fits of all: %v, and %d with a history left out; want all and 7", f.all != nil, len(f.without))
	}
}

func TestFitsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	b := &bench{out: io.Discard, fits: t.TempDir()}
	f := fits{all: changerate.Defaults(), without: map[string]*changerate.Weights{"one": changerate.Broad()}}
	if err := b.keep(f); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(b.fits, fitsName))
	if err != nil {
		t.Fatal(err)
	}
	read, err := readFits(table)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(f.without["one"].List(), read.without["one"].List()); d != "" {
		t.Errorf("left out (-written +read):\n%s", d)
	}
	if d := cmp.Diff(f.all.List(), read.all.List()); d != "" {
		t.Errorf("all (-written +read):\n%s", d)
	}
	for _, broken := range []string{"a,b\n", ",any page,x,1\n", ",any page,0.1,1\n", "\"", ",another,1,1\n"} {
		if _, err := readFits([]byte(broken)); err == nil {
			t.Errorf("readFits(%q): no error", broken)
		}
	}
}
