package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"html/template"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
)

// guard lets those in who show the token: what is known of pages is for whoever may read the data directory, where the token
// lies, and not for all who work on the machine.
type guard struct {
	sum    [sha256.Size]byte // of the token
	cookie string            // name; with the port, since browsers keep the cookies of a host for all of its ports
	file   string            // where the token lies
	none   bool              // there is no token, so nobody has it
	knocks *knocks
}

func newGuard(o Options, at net.Addr) *guard {
	_, port, _ := net.SplitHostPort(at.String())
	return &guard{sum: sha256.Sum256([]byte(o.Token)), cookie: "recrawld-" + port, file: o.File, none: o.Token == "",
		knocks: &knocks{log: o.Log, clock: o.Clock}}
}

// holds tells whether a text is the token. How long that takes says nothing of it.
func (g *guard) holds(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], g.sum[:]) == 1 && !g.none
}

// knows tells whether a request shows the token: in its header, or as a browser that was let in, which may look and do nothing else.
func (g *guard) knows(r *http.Request) bool {
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return g.holds(strings.TrimSpace(token))
	}
	if !looks(r) {
		return false
	}
	for _, cookie := range r.CookiesNamed(g.cookie) { // other servers of this machine can set one, too
		if g.holds(cookie.Value) {
			return true
		}
	}
	return false
}

// only answers those alone who show the token, and no browser that asks for a page of another site.
func (g *guard) only(next http.Handler) http.Handler {
	return g.those(g.knows, "Bearer", "Authorization: Bearer TOKEN", next)
}

// readers is only for feeds, of which the token is the password, too: feed readers know no other way. A browser that was given a password
// sends it by itself with whatever a page of any site has it ask for here, so nothing else takes it.
func (g *guard) readers(next http.Handler) http.Handler {
	return g.those(g.reads, `Basic realm="recrawld"`, "as the password, with any user name", next)
}

// reads tells whether a request for a feed shows the token: as the password of a user of any name, or as others do.
func (g *guard) reads(r *http.Request) bool {
	if _, password, basic := r.BasicAuth(); basic {
		return looks(r) && g.holds(password)
	}
	return g.knows(r)
}

// shown are what a request shows for tokens, in whatever way, also where none is taken in that way.
func (g *guard) shown(r *http.Request) (tokens []string) {
	if _, password, basic := r.BasicAuth(); basic {
		tokens = append(tokens, password)
	} else if _, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); token != "" {
		tokens = append(tokens, strings.TrimSpace(token))
	}
	for _, cookie := range r.CookiesNamed(g.cookie) {
		tokens = append(tokens, cookie.Value)
	}
	return tokens
}

// looks tells whether a request changes nothing, whatever it asks for.
func looks(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// those answers whom a test lets in; others are told the scheme to come back with, and how.
func (g *guard) those(let func(*http.Request) bool, scheme, how string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
			http.Error(w, "not for pages of other sites", http.StatusForbidden)
			return
		}
		if let(r) {
			next.ServeHTTP(w, r)
			return
		}
		if tokens := g.shown(r); len(tokens) > 0 {
			g.knocks.note(slices.ContainsFunc(tokens, g.holds))
		}
		w.Header().Set("WWW-Authenticate", scheme)
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			http.Error(w, "the token of "+g.file+" is wanted: "+how, http.StatusUnauthorized)
			return
		}
		g.ask(w, http.StatusUnauthorized, "")
	})
}

// mostTyped is how many bytes a form with the token may have: anybody can send one.
const mostTyped = 4 << 10

// open lets a browser in that was given the token, by a link or typed.
func (g *guard) open(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostTyped)
	if err := r.ParseForm(); err != nil {
		status := http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, err.Error(), status)
		return
	}
	token := r.Form.Get("token") // FormValue would read forms with files, too, and put those on disk
	if !g.holds(token) {
		if token != "" {
			g.knocks.note(false)
		}
		g.ask(w, http.StatusUnauthorized, "That is not the token.")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: 400 * 24 * 3600})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, letIn) // the only error is that the asker is gone
}

// letIn goes on to the first sheet. A redirection there would count as asked for by the page that the link is on, a terminal within a
// browser for one, so the browser would neither show its cookie nor be answered.
const letIn = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/status"><title>recrawld</title>
<a href="/status">status</a>
</html>
`

// ask asks a person for the token.
func (g *guard) ask(w http.ResponseWriter, status int, problem string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = askPage.Execute(w, struct{ Problem, File string }{problem, g.file}) // the only error is that the asker is gone
}

var askPage = template.Must(template.New("ask").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>recrawld</title>
<style>:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere}
input{font:inherit;width:24rem;max-width:90%;padding:.2rem .5rem}.bad{color:#b00020}
@media(prefers-color-scheme:dark){.bad{color:#ff8a80}}</style>
<h1>recrawld</h1>
{{with .Problem}}<p class="bad">{{.}}</p>
{{end}}<p>What is known of pages is for those who may read the data directory. The token that opens it lies in <code>{{.File}}</code>.</p>
<form method="post" action="/open"><input name="token" type="password" autocomplete="current-password" placeholder="token" aria-label="token" autofocus></form>
</html>
`))
