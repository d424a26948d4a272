package report

import (
	"slices"
	"testing"
)

// TestWrap: lines fit, words stay whole where they can, and a colour lasts as long as it was meant to, over the ends of lines.
func TestWrap(t *testing.T) {
	t.Parallel()
	const red, end = "\x1b[31m", "\x1b[0m"
	for what, want := range map[string][]string{
		"short":                             {"short"},
		"one two three four five six seven": {"one two three four", "five six seven"},
		"an " + red + "alarm (6 in a row)" + end + ": and what it was": {"an " + red + "alarm (6 in a" + end, red + "row)" + end + ": and what it", "was"},
		"an " + red + "alarm (6 x)" + end + ": and what it was":        {"an " + red + "alarm (6 x)" + end + ": and", "what it was"},
		red + "all of it is in one colour" + end:                       {red + "all of it is in one" + end, red + "colour" + end},
		"see http://h.test/a/very/long/address for more":               {"see", "http://h.test/a/very", "/long/address for", "more"},
		"twenty columns, here\nand a line of its own":                  {"twenty columns, here", "and a line of its", "own"},
		"漢字漢字漢字漢字漢字漢字":                                                 {"漢字漢字漢字漢字漢字", "漢字"},
	} {
		if got := (Style{Width: 24, Color: true}).Wrap(what, 4); !slices.Equal(got, want) {
			t.Errorf("%q becomes\n%q, want\n%q", what, got, want)
		}
	}
}
