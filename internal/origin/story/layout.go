package story

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"recrawld/internal/origin"
)

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#223}` +
	`nav a{margin-right:.8rem}h1{font-size:1.6rem}table{border-collapse:collapse}td,th{padding:.2rem .8rem;` +
	`text-align:left;border-bottom:1px solid #ccd}code{background:#eef;padding:0 .2rem}footer{color:#667;margin-top:3rem}`

// page is one page in the making.
type page struct {
	host *origin.Host
	made *origin.Page
	last string // the content of the newest version
}

// newPage adds a page to a host. Its versions follow.
func newPage(host *origin.Host, path, title string, traits origin.Traits) *page {
	made := &origin.Page{Path: path, Title: title, Section: host.Label, Traits: traits}
	host.Add(made)
	return &page{host: host, made: made}
}

// says gives the page the content that it has from a moment on. Moments must come in order; the same content again is
// no new version.
func (p *page) says(at time.Time, content string) {
	if content == p.last && len(p.made.Versions) > 0 {
		return
	}
	p.last = content
	p.made.Versions = append(p.made.Versions, origin.Version{At: at,
		Body: func() ([]byte, error) { return []byte(render(p.host.Label, p.made.Title, content)), nil }})
}

// ticks is says for a page that shows times and counters: a version in which nothing else differs is noise.
func (p *page) ticks(at time.Time, content string) {
	before, n := p.last, len(p.made.Versions)
	p.says(at, content)
	if len(p.made.Versions) > n && n > 0 {
		p.made.Versions[n].Noise = withoutNumbers(p.last) == withoutNumbers(before)
	}
}

func withoutNumbers(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}

// answers gives the page a status without content from a moment on.
func (p *page) answers(at time.Time, status int, location string) {
	p.made.Versions = append(p.made.Versions, origin.Version{At: at, Status: status, Location: location})
}

// moves makes the page redirect for good.
func (p *page) moves(at time.Time, to string) { p.answers(at, http.StatusMovedPermanently, to) }

func render(section, title, content string) string {
	return fmt.Sprintf(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>%[1]s · Marlin %[2]s</title>
<style>%[3]s</style>
</head>
<body>
<nav><a href="/">%[2]s</a> <a href="/private/edit">Edit</a></nav>
<main>
<h1>%[1]s</h1>
%[4]s</main>
<footer>Marlin is a message queue that somebody made up. Nothing on this page is true.</footer>
</body>
</html>
`, html.EscapeString(title), section, style, content)
}

// paragraphs writes texts as paragraphs.
func paragraphs(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&b, "<p>%s</p>\n", text)
	}
	return b.String()
}

// list writes items, which may hold markup, as a list.
func list(items []string) string {
	return "<ul>\n<li>" + strings.Join(items, "</li>\n<li>") + "</li>\n</ul>\n"
}

func anchor(path, title string) string {
	return fmt.Sprintf(`<a href="%s">%s</a>`, html.EscapeString(path), html.EscapeString(title))
}

func day(at time.Time) string { return at.Format("2 January 2006") }

func slug(title string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		case r == ' ' || r == '-':
			return '-'
		}
		return -1
	}, title), "-")
}
