package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// largeFigure is what a store of many URLs costs.
type largeFigure struct {
	figure
	URLs   int     `json:"urls"`
	Bytes  float64 `json:"bytes_per_url"`
	Import float64 `json:"import_s,omitempty"`
	RSSIn  float64 `json:"import_rss_mb,omitempty"`
}

// runLarge refreshes stores of growing size, on a hundredth as many hosts as URLs, and imports as many URLs as the largest
// has.
func (b *bench) runLarge(ctx context.Context) error {
	for _, store := range []string{"sqlite", "postgres"} {
		for urls := min(100000, b.large); ; urls = min(urls*10, b.large) {
			f, err := b.refreshLarge(ctx, store, urls)
			if err != nil {
				return err
			}
			b.grown = append(b.grown, f)
			fmt.Fprintf(os.Stdout, "%s, %d URLs: %.0f visits/s, %.0f + %.0f µs, %.0f MB, %.0f bytes a URL, claim p99 %.0f ms, first visit after %.1f s\n",
				store, urls, f.Rate, f.CPU, f.CPUDatabase, f.RSS, f.Bytes, f.ClaimP99, f.Start)
			if urls >= b.large {
				break
			}
		}
		f, err := b.importLarge(ctx, store)
		if err != nil {
			return err
		}
		last := &b.grown[len(b.grown)-1]
		last.Import, last.RSSIn = f.Import, f.RSSIn
		fmt.Fprintf(os.Stdout, "%s, import of %d URLs: %.0f s, %.0f MB\n", store, b.large, f.Import, f.RSSIn)
	}
	return nil
}

// pagesOfHost is how many pages each host of a large store has.
const pagesOfHost = 100

func (b *bench) refreshLarge(ctx context.Context, store string, urls int) (largeFigure, error) {
	dir, err := os.MkdirTemp(b.dir, "large-")
	if err != nil {
		return largeFigure{}, err
	}
	defer os.RemoveAll(dir)
	f, err := b.recrawl(ctx, dir, store, "refresh", "--hosts", strconv.Itoa(max(urls/pagesOfHost, 1)), "--pages",
		strconv.Itoa(pagesOfHost), "--size", "2600")
	if err != nil {
		return largeFigure{}, err
	}
	f.Row, f.Load = "refresh, large, "+store, load()
	size, err := b.sizeOf(ctx, store, dir)
	return largeFigure{figure: f, URLs: urls, Bytes: float64(size) / float64(urls)}, err
}

// sizeOf is how many bytes a store takes, with the visits of its run.
func (b *bench) sizeOf(ctx context.Context, store, dir string) (int64, error) {
	if store == "postgres" {
		return b.postgres.Size(ctx)
	}
	found, err := os.Stat(filepath.Join(dir, "recrawld.db"))
	if err != nil {
		return 0, err
	}
	return found.Size(), nil
}

// importLarge imports a list of URLs.
func (b *bench) importLarge(ctx context.Context, store string) (largeFigure, error) {
	dir, err := os.MkdirTemp(b.dir, "import-")
	if err != nil {
		return largeFigure{}, err
	}
	defer os.RemoveAll(dir)
	list := filepath.Join(dir, "urls.txt")
	if err := writeURLs(list, b.large); err != nil {
		return largeFigure{}, err
	}
	args := []string{"import", list, "--data", filepath.Join(dir, "data"), "--store", store}
	if store == "postgres" {
		if args[len(args)-1], err = b.postgres.Fresh(ctx); err != nil {
			return largeFigure{}, err
		}
	}
	config := filepath.Join(dir, "recrawld.yaml")
	if err := os.WriteFile(config, []byte("agent: {contact: bench@localhost}\n"), 0o600); err != nil {
		return largeFigure{}, err
	}
	_, t, err := b.finish(exec.CommandContext(ctx, b.recrawld, append(args, "--config", config)...))
	return largeFigure{Import: t.took.Seconds(), RSSIn: t.rss}, err
}

// writeURLs writes a list of URLs of hosts of 100 pages each.
func writeURLs(path string, n int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	for i := range n {
		fmt.Fprintf(w, "http://h%d.example/section/%d/page-with-a-name-%d.html\n", i/pagesOfHost, i%97, i)
	}
	return w.Flush()
}

// grownTable is the Markdown of the large stores, with a bar for each cost of a visit.
func (b *bench) grownTable() string {
	if len(b.grown) == 0 {
		return ""
	}
	text := new(strings.Builder)
	text.WriteString("\n| store, URLs | visits/s | CPU a visit, µs | beside the smallest | bytes a URL | RSS, MB | first visit, s | claim p99, ms | import |\n")
	text.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	var base float64
	for i, f := range b.grown {
		cost := f.CPU + f.CPUDatabase
		if i == 0 || f.Row != b.grown[i-1].Row {
			base = cost
		}
		imported := "–"
		if f.Import > 0 {
			imported = fmt.Sprintf("%.0f s, %.0f MB", f.Import, f.RSSIn)
		}
		fmt.Fprintf(text, "| %s, %d | %.0f | %.0f | %.2f %s | %.0f | %.0f | %.1f | %.0f | %s |\n", f.Row, f.URLs, f.Rate, cost,
			cost/base, strings.Repeat("█", int(cost/base*10+0.5)), f.Bytes, f.RSS, f.Start, f.ClaimP99, imported)
	}
	return text.String()
}
