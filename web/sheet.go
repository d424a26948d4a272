package web

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
)

// Sheet shows a person what a command prints, or lists other sheets. Its address is its name after a slash; flags of the command are its
// parameters.
type Sheet struct {
	Name string // "changes", "report/daily"
	Menu string // what it is called in the menu, or where it is listed; "": it is not there, since it is about one page
	Of   string // the name of the sheet that lists it in place of the menu, so that the menu stays in a line; "": the menu does
	Hint string // one line

	Parameters []Parameter // those that may be given; may be none

	// Print writes what the command would print for a terminal that knows colours and hyperlinks. It must be safe for concurrent
	// use and return when ctx ends. A sheet without it lists those that are of it.
	Print func(ctx context.Context, out io.Writer, parameters url.Values) error
}

// Parameter is what a sheet may be asked with. The one named url, a page's address, stands in the head of each sheet.
type Parameter struct {
	Name string
	Hint string // how it is written, in a word
}

// siteSheet is the name of the sheet about one site, which is told by its parameter site.
const siteSheet = "site"

// Sheets printed at a time: some commands read all that is known, and the processors are the crawl's. Others wait for so long, and
// one takes no longer than that.
const (
	sheetsAtOnce = 2
	sheetWait    = 5 * time.Second
	sheetTime    = 20 * time.Second
)

// desk prints sheets.
type desk struct {
	options Options
	room    *semaphore.Weighted // of as many as are printed at a time
}

func newDesk(o Options) *desk {
	return &desk{options: o, room: semaphore.NewWeighted(sheetsAtOnce)}
}

// serve is the handler of a sheet.
func (d *desk) serve(sheet Sheet) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := printed{Sheet: sheet, Sheets: d.options.Sheets, URL: r.URL.Query().Get("url"), asked: r.URL.Query()}
		status := http.StatusOK
		if sheet.Print != nil {
			text, err := d.print(r.Context(), sheet, r.URL.Query())
			if err != nil {
				refused := refusalOf(err)
				status, p.Problem = refused.Status, refused.Error()
			}
			p.Text = paper(text)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_ = sheetPage.Execute(w, &p) // the only error is that the asker is gone
	})
}

var (
	errCrowded = Refusal{http.StatusServiceUnavailable, errors.New("others look at something here: try again in a moment")}
	errSlow    = Refusal{http.StatusServiceUnavailable, errors.New("this takes too long to be shown here: the command has all the time that it needs")}
)

// print has a sheet printed when there is room for it.
func (d *desk) print(ctx context.Context, sheet Sheet, parameters url.Values) (string, error) {
	waiting, stop := context.WithTimeout(ctx, sheetWait)
	defer stop()
	if d.room.Acquire(waiting, 1) != nil {
		return "", errCrowded
	}
	defer d.room.Release(1)
	limited, cancel := context.WithTimeout(ctx, sheetTime)
	defer cancel()
	var out strings.Builder
	err := sheet.Print(limited, &out, parameters)
	if err != nil && limited.Err() != nil {
		err = errSlow
	}
	return out.String(), err
}

// printed is a sheet with what is on it.
type printed struct {
	Sheet   Sheet
	Sheets  []Sheet
	URL     string // that the sheet is about; "": about none
	asked   url.Values
	Text    template.HTML
	Problem string
}

// Current tells whether a sheet is this one, or lists it.
func (p *printed) Current(sheet Sheet) bool {
	return sheet.Name == p.Sheet.Name || sheet.Name == p.Sheet.Of
}

// About are the sheets about the same page.
func (p *printed) About() []Sheet {
	var about []Sheet
	for _, sheet := range p.Sheets {
		if sheet.Menu == "" && p.URL != "" {
			about = append(about, sheet)
		}
	}
	return about
}

// Site is the site that the sheet is of; "": of all.
func (p *printed) Site() string { return p.asked.Get("site") }

// OfSite are the sheets that may be of one site.
func (p *printed) OfSite() []Sheet {
	return slices.DeleteFunc(slices.Clone(p.Sheets), func(s Sheet) bool {
		return p.Site() == "" || !slices.ContainsFunc(s.Parameters, func(of Parameter) bool { return of.Name == "site" })
	})
}

// Title is what a sheet is called in a list.
func (s Sheet) Title() string { return cmp.Or(s.Menu, s.Name) }

// Fields are the parameters of the sheet that a person may fill in, with what was asked for.
func (p *printed) Fields() (fields []field) {
	for _, of := range p.Sheet.Parameters {
		if of.Name != "url" {
			fields = append(fields, field{of, p.asked.Get(of.Name), max(len(of.Hint), len(p.asked.Get(of.Name)), 4)})
		}
	}
	return fields
}

type field struct {
	Parameter
	Value string
	Size  int // in characters
}

// Out is the address that the sheet is about, where a browser may be sent there.
func (p *printed) Out() string {
	if u, err := url.Parse(p.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return p.URL
}

// Live tells whether the sheet changes while one looks.
func (p *printed) Live() bool { return p.Sheet.Name == "status" }

var sheetPage = template.Must(template.New("sheet").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{with .URL}}{{.}} · {{end}}{{.Sheet.Name}} · recrawld</title>
<link rel="alternate" type="application/atom+xml" title="recrawld" href="/feed">
{{if .Live}}<meta http-equiv="refresh" content="20">{{end}}
<style>:root{color-scheme:light dark;--line:#8884;--link:#0b57d0;--bad:#b00020;--good:#0a6b2d;--warn:#8a5a00;--faint:#666}
@media(prefers-color-scheme:dark){:root{--link:#8ab4f8;--bad:#ff8a80;--good:#7bd88f;--warn:#e6b450;--faint:#999}}
body{font:15px/1.45 system-ui,sans-serif;margin:0}
header{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;align-items:center;padding:.6rem 1.2rem;border-bottom:1px solid var(--line)}
header b{margin-right:.4rem}a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}a[aria-current]{color:inherit;font-weight:600}
header form{margin-left:auto;flex:1 1 15rem;max-width:24rem}input,button{font:inherit;box-sizing:border-box;padding:.15rem .5rem}header input{width:100%}
main form{font-size:13px;color:var(--faint);margin:0 0 .9rem;display:flex;flex-wrap:wrap;gap:.3rem .9rem}
main{padding:1rem 1.2rem}dl{margin:0;display:grid;grid-template-columns:max-content 1fr;gap:.4rem 1.4rem}dd{margin:0}
p{margin:.2rem 0 .8rem;color:var(--faint)}
pre{font:13px/1.5 ui-monospace,"DejaVu Sans Mono",Consolas,monospace;overflow-x:auto;margin:0;padding-bottom:1rem}
.strong{font-weight:700}.faint{color:var(--faint)}.bad,p.bad{color:var(--bad)}.good{color:var(--good)}.warn{color:var(--warn)}</style>
<header><b>recrawld</b>
{{range .Sheets}}{{if and .Menu (not .Of)}}<a href="/{{.Name}}"{{if $.Current .}} aria-current="page"{{end}}>{{.Menu}}</a>
{{end}}{{end}}<form action="/why"><input name="url" type="search" placeholder="https://… why is it visited when it is?" aria-label="address of a page" value="{{.URL}}"></form></header>
<main>
<p>{{.Sheet.Hint}}{{with .About}}{{range .}} · <a href="/{{.Name}}?url={{$.URL}}"{{if eq .Name $.Sheet.Name}} aria-current="page"{{end}}>{{.Name}}</a>{{end}}{{with $.Out}} · <a href="{{.}}" rel="noreferrer noopener">the page itself</a>{{end}}{{end}}
</p>
{{with .OfSite}}<p>{{$.Site}}{{range .}} · <a href="/{{.Name}}?site={{$.Site}}"{{if eq .Name $.Sheet.Name}} aria-current="page"{{end}}>{{.Title}}</a>{{end}}</p>
{{end}}{{with .Fields}}<form action="/{{$.Sheet.Name}}">{{with $.URL}}<input type="hidden" name="url" value="{{.}}">{{end}}{{range .}}<label>{{.Name}} <input name="{{.Name}}" value="{{.Value}}" placeholder="{{.Hint}}" size="{{.Size}}"></label>
{{end}}<button>show</button></form>
{{end}}{{with .Problem}}<p class="bad">{{.}}</p>
{{end}}{{if .Sheet.Print}}<pre>{{.Text}}</pre>{{else}}<dl>{{range .Sheets}}{{if eq .Of $.Sheet.Name}}
<dt><a href="/{{.Name}}">{{.Menu}}</a><dd>{{.Hint}}{{end}}{{end}}</dl>{{end}}
</main>
</html>
`))
