package web

import (
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"time"
)

// Check is one thing that must be so for the daemon to be well.
type Check struct {
	Name string // "scheduler", "store", "disk"

	// Run returns nil, or what is wrong. It is called for each request, must be safe for concurrent use and returns
	// when ctx ends.
	Run func(ctx context.Context) error
}

// Health is the answer of /healthz: status 200 where OK, else 503.
type Health struct {
	OK     bool              `json:"ok"`
	Checks map[string]string `json:"checks"` // "ok", or what is wrong
}

// checkTime bounds all checks of one request together; what has not answered by then is not well.
const checkTime = 5 * time.Second

// ask runs the checks one after the other: they are few, and a stuck one must not pile up goroutines.
func ask(ctx context.Context, checks []Check) Health {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	h := Health{OK: true, Checks: make(map[string]string, len(checks))}
	for _, check := range checks {
		h.Checks[check.Name] = "ok"
		if err := check.Run(ctx); err != nil {
			h.OK, h.Checks[check.Name] = false, err.Error()
		}
	}
	return h
}

// health answers /healthz.
type health struct{ checks []Check }

// ServeHTTP implements http.Handler.
func (a health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := ask(r.Context(), a.checks)
	w.Header().Set("Content-Type", "application/json")
	if !h.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(h) // the only error is that the asker is gone
}

// front answers /: the same for a person.
type front struct{ options Options }

// ServeHTTP implements http.Handler.
func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = frontPage.Execute(w, struct {
		Version string
		Health  Health
	}{f.options.Version, ask(r.Context(), f.options.Checks)})
}

var frontPage = template.Must(template.New("front").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>recrawld</title>
<style>:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere}
td{padding:.1rem 1rem .1rem 0;vertical-align:top}td:first-child{overflow-wrap:normal}.bad{color:#b00020}
@media(prefers-color-scheme:dark){.bad{color:#ff8a80}}</style>
<h1>recrawld {{.Version}}</h1>
<p>{{if .Health.OK}}All is well.{{else}}<span class="bad">Not all is well.</span>{{end}}</p>
<table>{{range $name, $said := .Health.Checks}}<tr><td>{{$name}}<td{{if ne $said "ok"}} class="bad"{{end}}>{{$said}}{{end}}</table>
<p><a href="/metrics">metrics</a> · <a href="/healthz">health as JSON</a> · <a href="/status">all that is known</a></p>
`))
