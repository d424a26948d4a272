package main

import (
	"fmt"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
)

// pricePage is a page with a clock and a price.
func pricePage(hour int, price string) string {
	return fmt.Sprintf("<title>Prices</title><main><h1>Prices</h1><p>A room for one night costs %s, breakfast included, and the "+
		"children of our guests sleep and eat at no cost until they are twelve years old.</p></main><footer>It is %d o'clock</footer>", price, hour)
}

// priceSteps are visits every other day to a page that shows the time, and whose price rose 41 days ago.
func priceSteps() []step {
	steps := []step{{ago: 49 * day, kind: models.First, body: pricePage(1, "9 €"), frMax: 4}}
	for ago := 47; ago >= 1; ago -= 2 {
		s := step{ago: time.Duration(ago) * day, kind: models.Noise, body: pricePage(ago%24, "9.50 €"), frMax: 60, weight: 0.05,
			reasons: models.ReasonCounter | models.ReasonNav}
		if ago > 41 {
			s.body = pricePage(ago%24, "9 €")
		}
		if ago == 41 {
			s.kind, s.weight, s.reasons = models.Changed, 0.9, models.ReasonText
		}
		steps = append(steps, s)
	}
	return steps
}

// learn remembers of the host of the next page that a line on its pages changed on all of them at once, twice.
func (f *filler) learn() {
	memory := content.DecodeHost(nil)
	page := func(i, edition int) (canon.URL, *content.View) {
		u, err := canon.Parse(fmt.Sprintf("https://docs.example.org/chapter%c", 'a'+i))
		f.must(err)
		text := strings.Repeat(fmt.Sprintf("<p>This is what chapter %c has to say of its own matter and of no other, at length. ", 'a'+i), 5)
		body := fmt.Sprintf("<title>Chapter %[1]c</title><main><p class=edition>Handbook, edition of the %[3]s hand, read by the house</p>%[2]s</main>", 'a'+i, text,
			[]string{"first", "second", "third"}[edition])
		return u, content.Read([]byte(body), "text/html", u, nil)
	}
	for edition := range 2 {
		for i := range 4 {
			u, before := page(i, edition)
			_, after := page(i, edition+1)
			content.Judge(content.Case{Before: before, After: after, Page: content.DecodePage(nil), Host: memory, Threshold: 0.5, URL: u,
				PageID: models.PageID(u.String()), Now: filledNow.Add(time.Duration(edition-9)*day + time.Duration(i)*time.Hour)})
		}
	}
	f.learned = memory.Encode()
}

// filledTrials are a host's hints of which one lied.
func filledTrials() models.Trials {
	t := models.Trials{AuditedAt: models.At(filledNow.Add(-5 * time.Hour)), Visits: 17}
	t.By[models.HintETag] = models.Trial{Hits: 212, Since: models.At(filledNow.Add(-40 * day))}
	t.By[models.HintNotModified] = models.Trial{Hits: 31, Misses: 2, Since: models.At(filledNow.Add(-40 * day)), DistrustedAt: models.At(filledNow.Add(-2 * day))}
	return t
}
