package extract

import (
	"strings"
	"testing"
)

// printsTellPages tells versions of one page from those of other pages by their prints. Of two versions that differ by
// noise alone, most that are not alike have other titles; of two pages of one service, those that are alike are one page
// under two names, or answered the same at the time.
func printsTellPages(t *testing.T, all []version) {
	t.Helper()
	var noise, alike, pages, falselyAlike, without int
	for i, v := range all {
		if v.print.IsZero() {
			without++
			continue
		}
		if last := all[max(i-1, 0)]; v.follow && v.meaningful == "0" && v.text != last.text && !last.print.IsZero() {
			noise++
			if v.print.Alike(last.print) {
				alike++
			}
		}
		for _, w := range all[:i] {
			if w.page == v.page || w.url == v.url || w.print.IsZero() {
				continue
			}
			pages++
			if v.print.Alike(w.print) && !oneDocument(v, w) {
				falselyAlike++
				t.Logf("%s and %s are alike", v.page, w.page)
			}
		}
	}
	t.Logf("%d bodies, %d without a print; %d of %d versions with noise are alike (%.1f %%); %d of %d pairs of other pages are",
		len(all), without, alike, noise, 100*float64(alike)/float64(noise), falselyAlike, pages)
	if noise < 100 || alike*10 < noise*9 || falselyAlike > 0 || without*15 > len(all) {
		t.Error("prints no longer tell copies from other pages as they did")
	}
}

// oneDocument tells the pages of the corpus that were looked at and are the same under two names: a company that the corpus
// lists twice, a front page that answers for all, a policy that answers for another.
func oneDocument(v, w version) bool {
	both := v.page + " " + w.page
	for _, name := range []string{"Vivoptim/", "LibHeros/", "WITHINGS/"} {
		if strings.Count(both, name) == 2 || name == "LibHeros/" && strings.Contains(both, name) && strings.Contains(both, "LibHéros/") {
			return true
		}
	}
	return false
}
