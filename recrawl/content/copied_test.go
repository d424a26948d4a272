package content

import (
	"encoding/base64"
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
	told := 0
	for i := range flipOwn + 3 {
		title := fmt.Sprintf("Lamp %c", 'A'+i)
		page := func(lock string) string { return body(title, "<p>"+title+": "+story(1)[0]+chapter("Locks", lock)) }
		v := judgeOn(t, host, int64(i), page(old), page(edit))
		if want := i < flipOwn; (v.Kind == Change) != want {
			t.Errorf("boilerplate on page %d is %v for %v", i, v.Kind, v.Reasons)
		}
		if v.Template != "" {
			told++
		}
	}
	if told != 1 || !host.Withdraw(0) {
		t.Errorf("boilerplate is told of %d times", told)
	}
}

// TestBoilerplateOfAFewLinesIsOneEvent holds that a line which all pages of a site share is the host's from the second page on where others that they
// share stand beside it too, and is told of once.
func TestBoilerplateOfAFewLinesIsOneEvent(t *testing.T) {
	t.Parallel()
	const before, after = "<p>This site is made by volunteers, who are glad of any help.", "<p>What you read here may be copied by anybody."
	const old, edit = "<p>Version 5.1 is the latest, as the news tell.", "<p>The meeting of the users is in May."
	for name, c := range map[string]struct{ above, below string }{"alone": {}, "second": {above: before}, "first": {below: after}, "between": {before, after}} {
		host, changes, told := &HostMemory{}, 0, 0
		for i := range 2 * flipOwn {
			title := fmt.Sprintf("Lamp %c", 'A'+i)
			own := "<p>" + title + ": " + strings.Join(story(4), "<p>"+title+": ") + c.above
			v := judgeOn(t, host, int64(i), editedPage(title, own+old+c.below, "<p>x"), editedPage(title, own+edit+c.below, "<p>x"))
			if v.Kind == Change {
				changes++
			}
			if v.Template != "" {
				told++
			}
		}
		if changes != 1 || told != 1 || !host.Withdraw(0) {
			t.Errorf("%s: %d changes, told of %d times", name, changes, told)
		}
	}
}

// TestDocumentsOfAMemoryOfBefore holds that a page which shows the document of another is no witness where the other's change was noted by a release
// that knew nothing of the texts around it.
func TestDocumentsOfAMemoryOfBefore(t *testing.T) {
	t.Parallel()
	stored, err := base64.StdEncoding.DecodeString("AQJaOmWbuWHfagCA0euhDcnB9uIJQKFHGRRG2F4AgNHroQ3JwfbiCQAAAIHT4hU=") // of the same edit on page 0
	if err != nil {
		t.Fatal(err)
	}
	body := func(lock string) string {
		return editedPage("Locks", "<p>"+strings.Join(story(3), "<p>")+"<p>The lock is taken before the file is "+lock+".", "<p>x")
	}
	host := DecodeHost(stored)
	if len(host.moves) != 2 {
		t.Fatalf("%d moves are read", len(host.moves))
	}
	if v := judgeOn(t, host, 1, body("read"), body("opened")); v.Kind != Change {
		t.Errorf("the document at its second address: %v for %v", v.Kind, v.Reasons)
	}
}
