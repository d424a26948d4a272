package content

import (
	"fmt"
	"strings"
	"testing"
)

// TestHowLongAListIs: each page of a shop's lists that says how many there are counted as changed with each product that came to another page or went.
func TestHowLongAListIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		was, is string
		want    VerdictKind
	}{
		"behind a link":                  {`<li><a href=/lamps>Lamps (de) (47)</a>`, `<li><a href=/lamps>Lamps (de) (48)</a>`, Noise},
		"outside of it":                  {`<li><a href=/lamps>Lamps</a> (999)`, `<li><a href=/lamps>Lamps</a> (1,001)`, Noise},
		"a menu in one line":             {`<div><a href=/lamps>Lamps (47)</a> <a href=/bulbs>Bulbs (1,101)</a></div>`, `<div><a href=/lamps>Lamps (48)</a> <a href=/bulbs>Bulbs (1,102)</a></div>`, Noise},
		"a price in it":                  {`<div><a href=/lamps>Lamps (47)</a> <a href=/bulbs>Bulbs 11</a></div>`, `<div><a href=/lamps>Lamps (48)</a> <a href=/bulbs>Bulbs 12</a></div>`, Change},
		"which are shown":                {`<p>Showing 11 to 20 of 47 (5 Pages)`, `<p>Showing 11 to 20 of 51 (6 Pages)`, Noise},
		"with no pages":                  {`<p>Ages 1 to 10, 46 places`, `<p>Ages 1 to 10, 45 places`, Change},
		"in another language":            {`<p>Artikel 11 bis 20 von 47 (Seite 2 von 5)`, `<p>Artikel 11 bis 20 von 46 (Seite 2 von 5)`, Change},
		"a long list":                    {`<p>Zeige 21 bis 40 von 999 (50 Seiten)`, `<p>Zeige 21 bis 40 von 1,001 (51 Seiten)`, Noise},
		"the last page":                  {`<p>Showing 41 to 47 of 47 (5 Pages)`, `<p>Showing 41 to 46 of 46 (5 Pages)`, Noise},
		"another list":                   {`<li><a href=/lamps>Lamps (47)</a>`, `<li><a href=/bulbs>Lamps (48)</a>`, Change},
		"another word":                   {`<li><a href=/lamps>Lamps (47)</a>`, `<li><a href=/lamps>Bulbs (48)</a>`, Change},
		"a year before it":               {`<li><a href=/lamps>Lamps of 2025 (47)</a>`, `<li><a href=/lamps>Lamps of 2026 (47)</a>`, Change},
		"a place of the page":            {`<li><a href=#reviews>Reviews (3)</a>`, `<li><a href=#reviews>Reviews (4)</a>`, Change},
		"a price behind a link":          {`<li><a href=/lamps/7>Lamp (47 €)</a>`, `<li><a href=/lamps/7>Lamp (48 €)</a>`, Change},
		"a version behind a link":        {`<li><a href=/get>Lamps (1.14.2)</a>`, `<li><a href=/get>Lamps (1.14.3)</a>`, Change},
		"a short version":                {`<li><a href=/get>Stable (5.2)</a>`, `<li><a href=/get>Stable (6.0)</a>`, Change},
		"an amount without a sign":       {`<li><a href=/lamps/7>Lamp (9.50)</a>`, `<li><a href=/lamps/7>Lamp (10.50)</a>`, Change},
		"a year behind a link":           {`<li><a href=/report>Annual report (2025)</a>`, `<li><a href=/report>Annual report (2026)</a>`, Change},
		"a sentence with a link":         {`<p>He has written of <a href=/lamps>Lamps</a> in all of his books (47)`, `<p>He has written of <a href=/lamps>Lamps</a> in all of his books (48)`, Change},
		"what is no list":                {`<p>Each costs 11 or 20, and 47 with oil`, `<p>Each costs 11 or 20, and 49 with oil`, Change},
		"a number of pages that is none": {`<p>Rooms 11 to 20 of 47, 7 doors`, `<p>Rooms 11 to 20 of 51, 9 doors`, Change},
		"other ones are shown":           {`<p>Showing 11 to 20 of 47`, `<p>Showing 21 to 30 of 48`, Change},
		"a place in a league":            {`<p>He came 3rd of 47`, `<p>He came 3rd of 48`, Change},
	} {
		of := func(line string) *View {
			return read(t, fmt.Sprintf("<html><head><title>Lamps</title></head><body><main><p>%s%s</main></body></html>", strings.Join(story(5), "<p>"), line))
		}
		if v := Judge(Case{Before: of(c.was), After: of(c.is), Threshold: threshold, Now: noon}); v.Kind != c.want {
			t.Errorf("%s is %v for %v, want %v: %+v", name, v.Kind, v.Reasons, c.want, v.Blocks)
		}
	}
}
