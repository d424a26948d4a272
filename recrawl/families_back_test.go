package recrawl

import (
	"fmt"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
)

// leftAside is a wiki whose forms are left aside.
func leftAside(t *testing.T) (*life, *hostile.Origin, func(n int) string) {
	l, o, formOf := wiki(t, nil)
	for n := range content.EnoughAside {
		wantKind(t, l.turn(formOf(n)), models.First)
	}
	wantKind(t, l.turn(formOf(content.EnoughAside)), models.Excluded)
	return l, o, formOf
}

// TestFamilyComesBackWithoutItsFirst: where what asked for it is gone, others of the family are looked at.
func TestFamilyComesBackWithoutItsFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer hostile.Answer
	}{{"gone", hostile.Whole(410, nil, "gone")}, {"missing", hostile.Whole(404, nil, "not found")}, {"moved", hostile.Redirect(301, "/wiki/P1")}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, o, formOf := leftAside(t)
			for n := range content.EnoughAside {
				o.Set(fmt.Sprintf("/w?title=P%d&action=edit", n), c.answer)
			}
			o.Set(fmt.Sprintf("/w?title=P%d&action=edit", content.EnoughAside), page(edition(77))) // is for readers
			l.step = 8 * 24 * time.Hour
			for range 5 {
				for n := range content.EnoughAside {
					l.turn(formOf(n))
				}
			}
			wantKind(t, l.turn(formOf(content.EnoughAside)), models.First)
		})
	}
}

// TestRequisitesAreNotLeftAside: /wiki/Special:FilePath/Logo.png is an image of a page.
func TestRequisitesAreNotLeftAside(t *testing.T) {
	t.Parallel()
	l, _, formOf := leftAside(t)
	url := formOf(content.EnoughAside + 1)
	p := l.pages[url]
	p.Requisite = true
	l.pages[url] = p
	wantKind(t, l.turn(url), models.First)
}

// TestAskedForAndFailing: what somebody asks for is visited, also where the first visit fails.
func TestAskedForAndFailing(t *testing.T) {
	t.Parallel()
	l, o, formOf := leftAside(t)
	url := formOf(content.EnoughAside)
	p := l.pages[url]
	p.Rule = models.RuleManual
	l.pages[url] = p
	path := fmt.Sprintf("/w?title=P%d&action=edit", content.EnoughAside)
	o.Set(path, hostile.Whole(503, nil, "busy"))
	wantKind(t, l.turn(url), models.Failed)
	o.Set(path, form(1))
	wantKind(t, l.turn(url), models.First)
}

// TestListedPagesAreNotLeftAside: what the site's sitemap names is to be read, though all pages of the site ask for noindex and nofollow, as on an
// intranet or while it is made. What a feed names is not: a wiki's names what changed, by pages that tell how.
func TestListedPagesAreNotLeftAside(t *testing.T) {
	t.Parallel()
	list := func(o *hostile.Origin, format string) hostile.Answer {
		return hostile.Whole(200, map[string]string{"Content-Type": "application/xml"},
			fmt.Sprintf(format, o.URL(fmt.Sprintf("/w?title=P%d&amp;action=edit", content.EnoughAside+1))))
	}
	const sitemap, feed = `<urlset><url><loc>%s</loc></url></urlset>`, `<rss><channel><item><link>%s</link></item></channel></rss>`
	for name, c := range map[string]struct {
		format string
		want   models.OutcomeKind
	}{"sitemap": {sitemap, models.First}, "feed": {feed, models.Excluded}} {
		t.Run(name+" before", func(t *testing.T) {
			t.Parallel()
			l, o, formOf := wiki(t, nil)
			o.Set("/list.xml", list(o, c.format))
			wantKind(t, l.turn(o.URL("/list.xml")), models.First)
			for n := range content.EnoughAside {
				wantKind(t, l.turn(formOf(n)), models.First)
			}
			wantKind(t, l.turn(formOf(content.EnoughAside)), c.want)
		})
		t.Run(name+" after", func(t *testing.T) {
			t.Parallel()
			l, o, formOf := leftAside(t)
			o.Set("/list.xml", list(o, c.format))
			wantKind(t, l.turn(o.URL("/list.xml")), models.First)
			wantKind(t, l.turn(formOf(content.EnoughAside)), c.want)
		})
	}
}

// TestAsideIsNoMoreThanBefore: pages by which nothing is known of their family are not visited more often than any.
func TestAsideIsNoMoreThanBefore(t *testing.T) {
	t.Parallel()
	due := func(setting string) (waits []time.Duration) {
		l, _, formOf := wiki(t, func(s *config.Settings) { s.NoIndex, s.FRMax, s.Vary = config.NoIndexAll, 720, 0 })
		for n := range content.EnoughAside + 2 {
			url := formOf(n)
			wantKind(t, l.turn(url), models.First)
			p := l.pages[url]
			p.FRMax = 720 // it was never seen to change
			l.pages[url] = p
		}
		l.settings.NoIndex = setting
		for n := range content.EnoughAside + 2 {
			l.turn(formOf(n))
			p := l.pages[formOf(n)]
			waits = append(waits, p.DueAt.Time().Sub(l.clock.Now()))
		}
		l.turn(formOf(content.EnoughAside + 1)) // once all of them are known
		p := l.pages[formOf(content.EnoughAside+1)]
		return append(waits, p.DueAt.Time().Sub(l.clock.Now()))
	}
	all, few := due(config.NoIndexAll), due(config.NoIndexFew)
	for n := range all {
		if n >= content.EnoughAside && few[n] < all[n] {
			t.Errorf("page %d waits %v, and %v where none is left aside", n, few[n], all[n])
		}
	}
}
