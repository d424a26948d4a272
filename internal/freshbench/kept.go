package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"recrawld/scheduler/changerate"
)

// keptFits are the weights as they were fitted last, each history left out of them: what -fit wrote, copied here.
//
//go:embed fits.csv
var keptFits []byte

// fitsName is the file in the folder of the fits that takes the place of fits.csv.
const fitsName = "fits.csv"

// keep writes fits as a table: the history left out ("" for none), the weight, its mean and spread.
func (b *bench) keep(f fits) error {
	var out bytes.Buffer
	rows := csv.NewWriter(&out)
	write := func(without string, w *changerate.Weights) error {
		for _, one := range w.List() {
			row := []string{without, one.Name, strconv.FormatFloat(one.Mean, 'f', 3, 64), strconv.FormatFloat(one.Spread, 'f', 3, 64)}
			if err := rows.Write(row); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write("", f.all); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.without)) {
		if err := write(name, f.without[name]); err != nil {
			return err
		}
	}
	rows.Flush()
	if err := rows.Error(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.fits, fitsName), out.Bytes(), 0o644)
}

// readFits reads what keep wrote. An error says that the model has other features by now, or that it is no such table.
func readFits(table []byte) (fits, error) {
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		return fits{}, fmt.Errorf("read fits: %w", err)
	}
	lists := make(map[string][]changerate.Weight)
	for _, row := range rows {
		if len(row) != 4 {
			return fits{}, fmt.Errorf("read fits: a row has %d fields, want 4", len(row))
		}
		one := changerate.Weight{Name: row[1]}
		if one.Mean, err = strconv.ParseFloat(row[2], 64); err == nil {
			one.Spread, err = strconv.ParseFloat(row[3], 64)
		}
		if err != nil {
			return fits{}, fmt.Errorf("read fits: %w", err)
		}
		lists[row[0]] = append(lists[row[0]], one)
	}
	f := fits{without: make(map[string]*changerate.Weights)}
	for name, list := range lists {
		w, err := changerate.WeightsOf(list)
		if err != nil {
			return fits{}, fmt.Errorf("read fits: %w", err)
		}
		if name == "" {
			f.all = w
			continue
		}
		f.without[name] = w
	}
	return f, nil
}
