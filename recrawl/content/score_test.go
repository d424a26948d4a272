package content

import (
	"slices"
	"strings"
	"testing"

	"recrawld/models"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	held := page("Terms", append(story(5), `<a href="/a?x=1">Here</a> it is, <a href="#below">below</a>, <img src=/i.png> and <em>there</em>`, "<nav>On this page</nav>")...)
	held = strings.Replace(held, "</main>", "</main><div><p>Ask us</p></div>", 1)
	for name, test := range map[string]struct {
		from, to string
		want     string
		kind     VerdictKind
	}{
		"a word":              {"a matter that", "an affair that", "main words", Change},
		"a link elsewhere":    {"/a?x=1", "/b?x=1", "main target", Change},
		"its query":           {"/a?x=1", "/a?x=2", "main address", Change},
		"its fragment":        {"/a?x=1", "/a?x=1#f", "main address", Change},
		"a place on the page": {"#below", "#above", "main fragment", Change},
		"other emphasis":      {"<em>there</em>", "<strong>there</strong>", "main form", Change},
		"the same emphasis":   {"<em>there</em>", "<i>there</i>", "", Noise},
		"another picture":     {"/i.png", "/j.png", "main picture", Noise},
		"a list of contents":  {"On this page", "Contents", "inner words", Change},
		"text without a name": {"Ask us", "Ask him", "open words", Change},
		"a menu":              {"Two", "Zwei", "nav words", Noise},
		"a footer":            {"Imprint", "Legal", "footer words", Noise},
		"a footer's emphasis": {"Imprint", "<b>Imprint</b>", "footer form", Noise},
		"what nobody sees":    {"<footer>", "<div hidden>x</div><footer>", "unseen words", Noise},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := strings.Replace(held, test.from, test.to, 1)
			all := Differences(read(t, held), read(t, after))
			var got []string
			for _, one := range all {
				got = append(got, one.String())
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("Differences() = %v, want %q", got, test.want)
			}
			if v := judgePages(t, held, after); v.Kind != test.kind || (v.Significance >= threshold) != (test.kind == Change) {
				t.Errorf("Judge() = %v of %v (%v), want %v", v.Kind, v.Significance, v.Reasons, test.kind)
			}
		})
	}
}

// A kind of difference counts by default where it is compared by the ladder, and nowhere else.
func TestWorth(t *testing.T) {
	t.Parallel()
	content := []Zone{Main, Near}
	for zone := range zones {
		for detail := range details {
			one := Difference{zone, detail}
			counts := slices.Contains(content, zone) && detail != Picture || zone == Inner && detail <= Target || zone == Open && detail == Words
			if w := one.Worth(); w < 0 || w > 1 || (w >= threshold) != counts {
				t.Errorf("%v is worth %v; counts: %v", one, w, counts)
			}
			if zone > Main && one.Worth() > (Difference{Main, detail}).Worth() {
				t.Errorf("%v is worth more than in the main content", one)
			}
		}
	}
}

func TestEmphasisIsNamed(t *testing.T) {
	t.Parallel()
	before := page("Terms", append(story(5), "<ul><li>One thing or another</ul>")...)
	v := judgePages(t, before, strings.NewReplacer("<ul><li>One thing", "<ol><li>One thing", "another</ul>", "another</ol>").Replace(before))
	if v.Kind != Change || v.Reasons != models.ReasonMarkupOnly {
		t.Errorf("Judge() = %v, %v, want a change of markup-only", v.Kind, v.Reasons)
	}
}
