package content

import (
	"strings"
	"testing"

	"recrawld/models"
)

// TestALogInThatSaysAsMuch: a log-in form in a short page's place is one by its title, though it says as much as the page did, and some of it stands on both. One that the page had, and
// one beside what the page says, is none.
func TestALogInThatSaysAsMuch(t *testing.T) {
	t.Parallel()
	head := "Welcome to the forum of the project, of which this is where we talk."
	post := page("Where is the manual?", head, "Started by Karl in May, and read by some since.", story(3)[1], story(3)[2])
	form := `<form action="/login2" method=post><input name=user><input type=password></form>`
	login := page("Log in", head, "The topic that you are looking for is for members alone. Please log in below, or sign up for an account with us, which is free of charge.", "User name and pass word are those with which you wrote to us, or which we sent by mail since.", "Time to stay logged in: for ever, an hour, a day, a week or a month.", form)
	if v := judgePages(t, post, login); v.Kind != Transient || v.Class != models.LoginWall {
		t.Errorf("it is %v, %v for %v", v.Kind, v.Class, v.Reasons)
	}
	for name, other := range map[string]string{
		"a form under another title": strings.Replace(login, "<title>Log in", "<title>Sizes of shoes", 1),
		"a title without a form":     strings.Replace(login, form, "", 1),
		"a form beside the content":  strings.Replace(post, "</main>", form+"</main>", 1),
	} {
		if v := judgePages(t, post, other); v.Kind == Transient {
			t.Errorf("%s: it is %v, %v", name, v.Kind, v.Class)
		}
	}
	if v := judgePages(t, login, page("Log in", story(3)[1], story(3)[2], form)); v.Kind == Transient {
		t.Errorf("a log-in page that says something else is %v, %v", v.Kind, v.Class)
	}
}
