package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"recrawld/internal/pgtest"
)

// BenchmarkImport imports a list of RECRAWLD_IMPORT URLs (default 20,000) on hosts of 100 pages each into an empty store of
// each engine: URLs/s. With -benchtime 1x it is one import.
func BenchmarkImport(b *testing.B) {
	n := 20_000
	if text := os.Getenv("RECRAWLD_IMPORT"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	list := filepath.Join(b.TempDir(), "urls.txt")
	if err := writeList(list, n); err != nil {
		b.Fatal(err)
	}
	config := filepath.Join(b.TempDir(), "recrawld.yaml")
	text := []byte("agent: {contact: me@example.net}\nsites:\n  - name: large\n    url: https://h0.example/\n    scope:\n")
	for host := range (n + 99) / 100 {
		text = fmt.Appendf(text, "      - https://h%d.example/\n", host)
	}
	if err := os.WriteFile(config, text, 0o600); err != nil {
		b.Fatal(err)
	}
	for _, store := range []string{"sqlite", "postgres"} {
		b.Run(store, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dsn := store
				if store == "postgres" {
					dsn = pgtest.DSN(b)
				}
				args := []string{"import", list, "-c", config, "--site", "large", "--data", b.TempDir(), "--store", dsn}
				b.StartTimer()
				if code, stdout, stderr := commandWith(b, "", args...); code != exitDone {
					b.Fatalf("exit code %d: %s%s", code, stdout, stderr)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "URLs/s")
		})
	}
}

// writeList writes a list of n URLs, 100 of each host one behind the other.
func writeList(path string, n int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	for i := range n {
		fmt.Fprintf(w, "https://h%d.example/section/%d/page-with-a-name-%d.html\n", i/100, i%97, i)
	}
	return w.Flush()
}
