package content

import (
	"fmt"
	"strings"
	"testing"
)

// TestAPassageThatTwoPagesHoldIsNews holds that what is edited in a passage that another page holds too, such as a chapter and the whole book on one
// page, or two versions of a manual, is a change of both: the second was silent, and the change of the first was taken back. Where eight pages show
// it, it is their boilerplate.
func TestAPassageThatTwoPagesHoldIsNews(t *testing.T) {
	t.Parallel()
	chapter := func(name, edit string) string {
		return "<h2>" + name + "</h2><p>" + name + ": " + strings.Join(story(3), "<p>"+name+": ") + "<p>" + edit + "<p>" + name + " ends with a summary of what it said."
	}
	const old, edit = "The lock is taken before the file is read.", "The lock is taken before the file is opened."
	body := func(title, text string) string { return editedPage(title, text, "<p>x") }
	one := func(lock string) string { return body("Locks", chapter("Locks", lock)) }
	whole := func(lock string) string {
		return body("The book", chapter("Files", "A file has a name.")+chapter("Locks", lock)+chapter("Threads", "A thread has a stack."))
	}
	next := func(lock string) string {
		return body("Locks", "<p>This is the manual of a version to come.</p>"+chapter("Locks", lock))
	}
	for name, pages := range map[string][2]func(string) string{"a chapter and the book": {one, whole}, "two versions": {one, next}} {
		host := &HostMemory{}
		for i, page := range pages {
			if v := judgeOn(t, host, int64(i), page(old), page(edit)); v.Kind != Change {
				t.Errorf("%s: the change of page %d is %v for %v", name, i, v.Kind, v.Reasons)
			}
		}
		if host.Withdraw(0) {
			t.Errorf("%s: the change of the first is taken back", name)
		}
	}
	host := &HostMemory{}
	for i := range flipOwn + 1 {
		title := fmt.Sprintf("Lamp %c", 'A'+i)
		page := func(lock string) string { return body(title, "<p>"+title+": "+story(1)[0]+chapter("Locks", lock)) }
		if v, want := judgeOn(t, host, int64(i), page(old), page(edit)), i < flipOwn; (v.Kind == Change) != want {
			t.Errorf("boilerplate on page %d is %v for %v", i, v.Kind, v.Reasons)
		}
	}
}
