package content

import (
	"strings"
	"testing"
)

// TestAMenuOfOptions holds that a list of other pages to choose from, which each page of a site carries folded up, is a menu, and that what else there
// is to choose from is what the page says, and what an entry says anew of one page.
func TestAMenuOfOptions(t *testing.T) {
	t.Parallel()
	text := "<p>Release 1.2 fixes what was wrong with release 1.1, and nothing else of it is different."
	list := func(options string) string {
		return editedPage("Release 1.2", "<select><option value=>All the news"+options+"</select>"+text, "<p>x")
	}
	for name, c := range map[string]struct {
		before, after string
		want          VerdictKind
	}{
		"pages":          {"<option value=/news/1.1>Release 1.1", "<option value=/news/1.1>Release 1.1<option value=/news/1.3>Release 1.3", Noise},
		"a price":        {"<option value=/lamps/brass>Brass, 17 €", "<option value=/lamps/brass>Brass, 19 €", Change},
		"a state":        {"<option value=/lamps/brass>Brass, 17 €", "<option value=/lamps/brass>Brass, sold out", Change},
		"another page":   {"<option value=/news/1.1>Release 1.1", "<option value=/news/1.3>Release 1.3", Noise},
		"sizes":          {"<option value=s>Small", "<option value=s>Small<option value=m>Medium", Change},
		"sizes by query": {"<option value='/dir/page?size=s'>Small", "<option value='/dir/page?size=s'>Small<option value='/dir/page?size=m'>Medium", Change},
	} {
		if v := judgePages(t, list(c.before), list(c.after)); v.Kind != c.want {
			t.Errorf("%s: %v for %v, want %v", name, v.Kind, v.Reasons, c.want)
		}
	}
}

// TestAMenuOfOptionsBeside holds that what such a menu says anew in a region beside the content is none of it.
func TestAMenuOfOptionsBeside(t *testing.T) {
	t.Parallel()
	body := func(latest string) string {
		return editedPage("Release 1.2", "<p>"+strings.Join(story(4), "<p>"), "<select><option value=/latest>Latest, "+latest+"</select>")
	}
	if v := judgePages(t, body("1.2"), body("1.3")); v.Kind != Noise {
		t.Errorf("%v for %v", v.Kind, v.Reasons)
	}
}

// TestAPriceInTheMenusOfTwoPages holds that what entries say anew is a change of each of two pages whose menus have them.
func TestAPriceInTheMenusOfTwoPages(t *testing.T) {
	t.Parallel()
	host := &HostMemory{}
	for i, title := range []string{"Brass lamp", "Steel lamp"} {
		body := func(price string) string {
			return editedPage(title, "<p>"+title+": "+story(1)[0]+"<select><option value=/lamps/brass>Brass, "+price+" €<option value=/lamps/steel>Steel, 23 €</select>", "<p>x")
		}
		if v := judgeOn(t, host, int64(i), body("17"), body("19")); v.Kind != Change {
			t.Errorf("%s: %v for %v", title, v.Kind, v.Reasons)
		}
	}
}

// TestLinksBesideAShortArticle holds that the list of other pages beside an article is none of it where the article is so short that both make up the
// content, and that what an aside says in words is.
func TestLinksBesideAShortArticle(t *testing.T) {
	t.Parallel()
	menu := strings.Repeat("<option value=/1>First release of the program", 20)
	body := func(aside string) string {
		return "<title>Meeting</title><div class=grid><div>All of the news<select>" + menu + "</select></div><div class=left><article><h1>Meeting</h1><p>We met in January and spoke of what the next release of " +
			"the program is to bring, and of who is to do it.</article></div><div class=right><aside><ul><li><a href=/1>First release of the program" +
			"</a><li><a href=/2>Second release of the program</a><li><a href=/3>Third release of the program</a>" + aside + "</ul></aside></div></div>"
	}
	if v := judgePages(t, body(""), body("<li><a href=/4>Fourth release of the program</a>")); v.Kind != Noise {
		t.Errorf("a link: %v for %v", v.Kind, v.Reasons)
	}
	if v := judgePages(t, body(""), body("<li>The next meeting is put off until June")); v.Kind != Change {
		t.Errorf("words: %v for %v", v.Kind, v.Reasons)
	}
}

// TestListsBesideATeaser holds that the lists of a page are its content where its only article is a teaser among other text.
func TestListsBesideATeaser(t *testing.T) {
	t.Parallel()
	for _, around := range []string{"nav", "aside"} {
		body := func(more string) string {
			return "<title>Laws</title><div><h1>Laws</h1><p>" + strings.Join(story(4), "<p>") + "<article><h2>From the news</h2><p>The house meets in January and speaks of " +
				"what the next law is to bring.</article><" + around + "><ul><li><a href=/1>Law of the sea</a>" + more + "</ul></" + around + "></div>"
		}
		if v := judgePages(t, body(""), body("<li><a href=/2>Law of the land</a>")); v.Kind != Change {
			t.Errorf("%s: %v for %v, want a change", around, v.Kind, v.Reasons)
		}
	}
}
