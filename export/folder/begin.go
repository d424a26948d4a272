package folder

import (
	"bytes"
	"encoding/json"
	"html/template"
	"slices"
	"strings"
	"time"

	"recrawld/internal/filename"
)

// mostHosts is how many hosts the page to begin with lists.
const mostHosts = 1000

// hosts are those that pages are of, each with the page to look at first.
type hosts struct {
	listed []*host // in the order in which they were met
	byName map[string]*host
	beyond int64 // pages of hosts beyond mostHosts
}

type host struct {
	name  string
	pages int64
	first string // the URL of its page of hypertext that is the shortest, "" for none
}

// count takes a page. Those of one host come together, but for hosts whose names systems take for the same.
func (h *hosts) count(url, name string) {
	a, _, _ := filename.SplitURL(url)
	one := h.byName[a.String()]
	if one == nil {
		if len(h.listed) == mostHosts {
			h.beyond++
			return
		}
		one = &host{name: a.String()}
		if h.byName == nil {
			h.byName = make(map[string]*host)
		}
		h.byName[one.name] = one
		h.listed = append(h.listed, one)
	}
	one.pages++
	shown := strings.HasSuffix(name, ".html") || strings.HasSuffix(name, ".htm") || strings.HasSuffix(name, ".xhtml")
	if shown && (one.first == "" || len(url) < len(one.first)) {
		one.first = url
	}
}

// begun is what the page to begin with shows.
type begun struct {
	About, Software, Created string
	Starts, Hosts            []door
	Beyond                   int64
	Sum                      Summary
	Refused                  int64
}

// door is a link into the folder; without a file only its name.
type door struct {
	Name, URL string
	File      template.URL
	Pages     int64
}

// begin writes the page to begin with, and what the folder says of itself.
func (r *run) begin() error {
	b := begun{About: r.o.About, Software: r.o.Software, Created: r.o.Now.UTC().Format(time.RFC3339), Beyond: r.names.hosts.beyond, Sum: r.sum,
		Refused: r.refused}
	for _, s := range r.o.Starts {
		d, err := r.door(s.Site, s.URL)
		if err != nil {
			return err
		}
		if d.File != "" {
			b.Starts = append(b.Starts, d)
		}
	}
	for _, h := range r.names.hosts.listed {
		d, err := r.door(h.name, h.first)
		if err != nil {
			return err
		}
		d.Pages = h.pages
		b.Hosts = append(b.Hosts, d)
	}
	slices.SortFunc(b.Hosts, func(a, b door) int { return strings.Compare(a.Name, b.Name) })
	var page bytes.Buffer
	if err := beginPage.Execute(&page, b); err != nil {
		return err
	}
	text, err := json.MarshalIndent(about{Form: form, Software: r.o.Software, Created: b.Created, Selection: r.o.About,
		Pages: r.sum.Versions, Redirects: r.sum.Redirects, Lost: r.sum.Lost, Refused: r.refused, Away: r.sum.Away, Needs: r.sum.Needs}, "", "  ")
	if err != nil {
		return err
	}
	if err := r.draft.write(start, page.Bytes(), r.o.Now); err != nil {
		return err
	}
	return r.draft.write(aboutName, append(text, '\n'), r.o.Now)
}

func (r *run) door(name, url string) (door, error) {
	d := door{Name: name, URL: url}
	if url == "" {
		return d, nil
	}
	file, err := r.names.held(url)
	if file != "" {
		d.File = template.URL(escapePath(file)) // it has no scheme
	}
	return d, err
}

var beginPage = template.Must(template.New("begin").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.About}}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin-top: 2em }
td { padding: .1em 1.5em .1em 0 } td.n { text-align: right; font-variant-numeric: tabular-nums }
.quiet { color: #666 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } a { color: #8bf } .quiet { color: #999 } }
</style>
<h1>{{.About}}</h1>
<p>Pages, with their images, styles and scripts: {{.Sum.Versions}}, put here at {{.Created}}.
{{with .Starts}}<h2>Begin here</h2>
<ul>
{{range .}}<li><a href="{{.File}}">{{.URL}}</a>{{with .Name}} <span class="quiet">{{.}}</span>{{end}}
{{end}}</ul>
{{end}}{{with .Hosts}}<h2>Hosts</h2>
<table>
{{range .}}<tr><td>{{if .File}}<a href="{{.File}}">{{.Name}}</a>{{else}}{{.Name}}{{end}}<td class="n">{{.Pages}}
{{end}}</table>
{{end}}{{if .Beyond}}<p>Pages of further hosts: {{.Beyond}}
{{end}}<h2>What is missing</h2>
<ul>
{{if .Sum.Lost}}<li>Pages that could not be read any more: {{.Sum.Lost}}
{{end}}{{if .Refused}}<li>Pages that ask not to be archived, and are left out: {{.Refused}}
{{end}}{{if .Sum.Needs}}<li>References to images, styles, scripts and the like that are not in this folder, and are shown only where the network is reached: {{.Sum.Needs}}
{{end}}<li>References that lead out of this folder, to the web: {{.Sum.Away}}
</ul>
<p class="quiet">All pages with their files are listed in <a href=".recrawl/pages.ndjson">.recrawl/pages.ndjson</a>. Written by {{.Software}}.
`))
