package folder

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
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

// Time is linear in the bytes of a page whatever it is made of, and so is memory. What takes the square of the bytes takes minutes here.
func TestHostilePagesTakeLittle(t *testing.T) {
	const size, most = 2 << 20, 20 * time.Second
	for name, body := range hostilePages(size) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		rewrite(t, "text/html; charset=utf-8", body)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		memory := after.TotalAlloc - before.TotalAlloc
		t.Logf("%-26s %v, %d MiB", name, took.Round(time.Millisecond), memory>>20)
		if took > most || memory > 100*size {
			t.Errorf("%s: %v and %d MiB for %d MiB, want at most %v and %d", name, took, memory>>20, size>>20, most, 100*size>>20)
		}
	}
}
