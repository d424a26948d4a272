package content

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"recrawld/models"
)

// How much a page may say beside the words that make an error of it, in runes of main content, where nothing is known of what else it shows.
const (
	curtRunes  = 200  // whatever of it says so: what is documented of an error is longer
	titleRunes = 1000 // where its title says so
)

// suspectBytes is the length in bytes of the longest visible text, frame and all, in which words are looked for: with more around it an
// error has a title that tells.
const suspectBytes = 4 << 10

// What a page says that is an error by itself: whole sayings, where for a page that had contents a word is enough.
var (
	goneSayings   = sayingsOf(said["gone"]...)
	brokenSayings = sayingsOf(said["broken"]...)
	blockSayings  = sayingsOf(said["blocked"]...)
	loginTitles   = sayingsOf(said["login"]...)

	errorSayings = goneSayings.and(brokenSayings).and(blockSayings)
)

// signTitles are parts of a title that say it where they are all of the part.
var signTitles = []string{"not found", "maintenance", "wartung", "wartungsarbeiten"}

// Suspect tells whether the visible text of an HTML page of which nothing is known, with its title, may be that of an error, by which it is worth
// being read for First: it is cheap, and says so too often rather than too seldom.
func Suspect(title string, text []byte) bool {
	switch {
	case saysTitle(title), loginTitles.in(title):
		return true
	case len(text) > suspectBytes:
		return false
	}
	return errorSayings.in(string(text))
}

// saysTitle tells whether a title says that the page is an error.
func saysTitle(title string) bool {
	return errorSayings.in(title) || slices.ContainsFunc(titleParts(strings.ToLower(title)), func(part string) bool { return slices.Contains(signTitles, part) })
}

// titleParts are what a title is put together of, as of the name of the page and that of its site.
func titleParts(title string) []string {
	parts := strings.FieldsFunc(title, func(r rune) bool { return strings.ContainsRune("|–—·»", r) })
	var all []string
	for _, part := range parts {
		for one := range strings.SplitSeq(part, " - ") {
			all = append(all, strings.Trim(one, " .!"))
		}
	}
	return all
}

// First says what a body is of which there is no copy to hold it against, such as a page's first: Change where nothing speaks against taking it,
// SoftMissing where it is the host's answer for names that do not exist, and Transient where it says by itself that it is an error or a
// log-in form, or is what other pages of the host show in place of their contents while none shows its own. Like what
// Judge doubts it comes to be what the page is when it has stood for long enough, sooner where other pages of the host are well and do not show the same:
// documentation of an error is that after a night. Before and Threshold of c do not count.
func First(c Case) Verdict {
	if c.Host.IsMissing(c.After) {
		return Verdict{Kind: SoftMissing, Reasons: models.ReasonErrorPage}
	}
	look := c.After.look()
	order, decided := c.Orders.of(look)
	a, clear := c.After.errorByItself(c.URL.Path())
	others, down := c.Host.showing(look, pagePrint(c.PageID), c.HostShown)
	if decided && !order.Noise || !decided && !clear && !down {
		c.good()
		return Verdict{Kind: Change, Significance: 1}
	}
	if c.Good {
		c.Page.good()
	}
	if a.class == models.ClassNone {
		a.class = models.ErrorPage
	}
	r, now := &c.Page.absent, c.Now.Unix()
	r.add(look, false, now, unixOf(c.Due))
	c.Host.showsFirst(look, c.After, pagePrint(c.PageID), now)
	a.others, a.alive = others, c.HostShown.Unix() > r.first && !c.HostShown.IsZero()
	v := Verdict{Kind: Transient, Class: a.class, Reasons: models.ReasonErrorPage, Since: time.Unix(r.since, 0).UTC(), Others: others}
	if decided {
		return v
	}
	if becomes, after := a.enters(); c.conclude(&a, &v, becomes, after) && becomes == Change {
		c.Page.good() // that others show it too is remembered: it is no witness for these
	}
	return v
}

// enters says what a view that is an error by itself comes to be taken for where the page showed nothing else yet, and after how long. There is no copy
// to lose, so what is not sure to be an error comes in at some time, whatever others show.
func (a *absence) enters() (kind VerdictKind, after time.Duration) {
	barred := a.class == models.LoginWall || a.class == models.BlockPage
	switch {
	case a.gone && (a.curt || a.others > 0) && a.alive:
		return SoftMissing, standMissing
	case a.gone && (a.curt || a.others > 0):
		return SoftMissing, standSigned
	case a.others > 0, barred && !a.alive:
		return Change, standBarred
	case barred, !a.alive:
		return Change, standSigned
	}
	return Change, standFramed
}

// errorByItself tells whether a view says, without anything to hold it against, that it is no content, and what it is instead. A log-in
// form at an address that is named for it is what that page is, and a shell without content what scripts fill in: there are sites of which no page
// ever shows more.
func (v *View) errorByItself(path string) (a absence, is bool) {
	if v.Kind != HTML {
		return absence{}, false
	}
	text := v.Text()
	runes := utf8.RuneCountInString(text)
	if runes > titleRunes {
		return absence{}, false
	}
	a.curt, a.signed = runes <= curtRunes, true
	says := v.Title
	if a.curt {
		says += "\n" + text
	}
	switch {
	case blockSayings.in(says):
		a.class = models.BlockPage
	case v.forms > 0 && loginTitles.in(v.Title) && !mayBeLogin(path):
		a.class = models.LoginWall
	case goneSayings.in(says):
		a.class, a.gone = models.ErrorPage, true
	case brokenSayings.in(says), saysTitle(v.Title):
		a.class = models.ErrorPage
	default:
		return absence{}, false
	}
	return a, true
}
