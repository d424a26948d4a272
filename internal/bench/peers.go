package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// wget2 fetches all pages with 16 connections, then again with the conditions that its files give.
func (b *bench) wget2(ctx context.Context, hosts int) (found []figure, err error) {
	where := strconv.Itoa(hosts) + " host"
	if hosts > 1 {
		where += "s"
	}
	s, err := b.serve(ctx, hosts)
	if err != nil {
		return nil, err
	}
	dir, err := b.room("wget2")
	if err != nil {
		return nil, err
	}
	args := append([]string{"--quiet", "--recursive", "--level=0", "--timestamping", "--robots=off", "--max-threads=16",
		"--directory-prefix=" + dir}, s.urls...)
	for _, row := range []string{"first crawl, ", "refresh, "} {
		_, t, err := b.finish(exec.CommandContext(ctx, "wget2", args...))
		if err != nil {
			return nil, errors.Join(err, s.end.Close(), s.cmd.Wait())
		}
		found = append(found, t.figure(row+where, "wget2", b.pages))
	}
	whole, notModified, err := s.close()
	if err != nil {
		return nil, err
	}
	if all := whole + notModified; all < 2*b.pages || all > 2*b.pages+2*hosts {
		return nil, fmt.Errorf("asked for %d pages (%d of them unchanged), want %d twice", all, notModified, b.pages)
	}
	return found, nil
}

// collySource is the program that crawls with colly: 16 requests at a time, each page written to a file.
const collySource = `package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/gocolly/colly/v2"
)

func main() {
	dir, urls := os.Args[1], os.Args[2:]
	c := colly.NewCollector(colly.Async(true))
	c.IgnoreRobotsTxt = true
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: 16}); err != nil {
		panic(err)
	}
	var pages atomic.Int64
	c.OnHTML("a[href]", func(e *colly.HTMLElement) { _ = e.Request.Visit(e.Attr("href")) })
	c.OnResponse(func(r *colly.Response) {
		n := pages.Add(1)
		name := fmt.Sprintf("%d-%s", n, strings.ReplaceAll(r.Request.URL.Path, "/", "_"))
		if err := os.WriteFile(filepath.Join(dir, name), r.Body, 0o600); err != nil {
			panic(err)
		}
	})
	for _, u := range urls {
		if err := c.Visit(u); err != nil {
			panic(err)
		}
	}
	c.Wait()
	fmt.Println(pages.Load())
}
`

const collyModule = "github.com/gocolly/colly/v2@v2.3.0"

// buildColly builds the program above in a module of its own, once.
func (b *bench) buildColly(ctx context.Context) (string, error) {
	dir := filepath.Join(b.dir, "colly")
	program := filepath.Join(dir, "crawl")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for name, text := range map[string]string{"main.go": collySource, "go.mod": "module crawl\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{{"get", collyModule}, {"build", "-o", program, "."}} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return program, nil
}

// colly fetches all pages.
func (b *bench) colly(ctx context.Context) ([]figure, error) {
	program, err := b.buildColly(ctx)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(ctx, 20)
	if err != nil {
		return nil, err
	}
	dir, err := b.room("colly")
	if err != nil {
		return nil, err
	}
	out, t, err := b.finish(exec.CommandContext(ctx, program, append([]string{dir}, s.urls...)...))
	if _, _, closed := s.close(); err != nil || closed != nil {
		return nil, errors.Join(err, closed)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || n < b.pages || n > b.pages+len(s.urls)+b.pages/100 { // it marks a page when it has it, so it asks for some twice
		return nil, fmt.Errorf("fetched %s pages, want %d", bytes.TrimSpace(out), b.pages)
	}
	return []figure{t.figure("first crawl, 20 hosts", "colly", b.pages)}, nil
}
