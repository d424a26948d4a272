package content

import "testing"

// TestAMenuOfOptions holds that a list of other pages to choose from, which each page of a site carries folded up, is a menu, and that what else there
// is to choose from is what the page says.
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
		"sizes":          {"<option value=s>Small", "<option value=s>Small<option value=m>Medium", Change},
		"sizes by query": {"<option value='/dir/page?size=s'>Small", "<option value='/dir/page?size=s'>Small<option value='/dir/page?size=m'>Medium", Change},
	} {
		if v := judgePages(t, list(c.before), list(c.after)); v.Kind != c.want {
			t.Errorf("%s: %v for %v, want %v", name, v.Kind, v.Reasons, c.want)
		}
	}
}
