package folder

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hostilePages are pages of about so many bytes that are made to take long.
func hostilePages(size int) map[string]string {
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	var links strings.Builder
	for i := 0; links.Len() < size; i++ {
		links.WriteString("<a href=/p" + strconv.Itoa(i) + ">")
	}
	return map[string]string{
		"links":                     links.String(),
		"attributes":                "<a " + fill("href=b ") + ">",
		"attributes without values": "<a " + fill("x ") + ">",
		"hashes":                    "<link href=/style.css " + fill("integrity=x ") + ">",
		"a long attribute":          `<a href="` + fill("/x&amp") + `">`,
		"a long style":              `<p style="` + fill("a:url(/docs/b);") + `">`,
		"a long srcset":             `<img srcset="` + fill("/img/x.png 1x,") + `">`,
		"commas":                    `<img srcset="` + fill(",") + `">`,
		"open tags":                 fill("<a "),
		"open comments":             fill("<!--"),
		"open styles":               fill("<style>"),
		"open scripts":              fill("<script><!--<script>"),
		"noscript":                  fill("<noscript>"),
		"noscript within":           "<noscript>" + fill("<noscript><a href=b>"),
		"bases":                     fill("<base>"),
		"policies":                  fill("<meta http-equiv=content-security-policy>"),
		"pages within":              fill(`<iframe srcdoc="<a href=b>">`),
		"a page within":             `<iframe srcdoc="` + fill("<a href=b>&lt;") + `">`,
		"ampersands":                fill(`<a href="b&x">`),
		"svg":                       fill("<svg><style/>"),
		"data":                      `<img src="data:` + fill("x") + `">`,
		"fragments":                 `<a href="b#` + fill("\u00e4") + `">`,
	}
}

// benign is a page of about so many bytes as people write them.
func benign(size int) string {
	piece := `<p class="text">Of mills and <a href="/docs/mill.html">their wheels</a>, with a <img src="/img/wheel.png" alt="wheel">.</p>` + "\n"
	return "<!doctype html><title>Mills</title><body>" + strings.Repeat(piece, size/len(piece))
}

// processorTime is what this process has had of the processors so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Time is linear in the bytes of a page whatever it is made of, and so is memory. What takes the square of the bytes takes thousands of times
// what a benign page does. It is the process's own time that counts, however many others want the machine: this test runs by itself.
func TestHostilePagesTakeLittle(t *testing.T) {
	const size, most = 2 << 20, 20
	cost := func(body string) (took time.Duration, memory uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := processorTime(t)
		rewrite(t, "text/html; charset=utf-8", body)
		took = processorTime(t) - began
		runtime.ReadMemStats(&after)
		return took, after.TotalAlloc - before.TotalAlloc
	}
	usual, _ := cost(benign(size))
	again, _ := cost(benign(size))
	usual = min(usual, again) // what is loaded once is not of the page
	t.Logf("%-26s %v", "a benign page", usual.Round(time.Millisecond))
	for name, body := range hostilePages(size) {
		took, memory := cost(body)
		t.Logf("%-26s %.1f times a benign page, %d MiB", name, float64(took)/float64(usual), memory>>20)
		if took > most*usual || memory > 100*size {
			t.Errorf("%s: %v and %d MiB for %d MiB, want at most %d times the %v of a benign page and %d", name, took, memory>>20, size>>20, most,
				usual, 100*size>>20)
		}
	}
}
