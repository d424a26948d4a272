package config

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/andybalholm/cascadia"
	"github.com/goccy/go-yaml/ast"
)

// selectorList is a list of CSS selectors.
type selectorList struct{ list[string] }

func selectors(at *[]string) selectorList { return selectorList{words(at, checkSelector)} }

// read says what became of a selector that YAML took for a comment: ids are the most common selectors there are.
func (l selectorList) read(r *reader, n ast.Node) {
	if _, none := n.(*ast.NullNode); none {
		r.fail(n, "has no value, write [] for none; a selector that begins with # stands in quotes: \"#clock\"")
		return
	}
	l.list.read(r, n)
}

const longestSelector = 2000

// checkSelector is for CSS selectors, one or several with commas between. One that matches nothing is good: only the
// pages can tell.
func checkSelector(text string) error {
	if err := present(text); err != nil {
		return err
	}
	if len(text) > longestSelector { // the parser goes as deep as the selector is nested
		return fmt.Errorf("is longer than %d bytes", longestSelector)
	}
	if text == "off" || text == "on" || text == "none" {
		return fmt.Errorf("%s is the name of no element, write [] for none", shown(text))
	}
	if _, err := cascadia.ParseGroup(text); err == nil {
		return nil
	} else if _, inPage := cascadia.ParseGroupWithPseudoElements(text); inPage == nil {
		return fmt.Errorf("%s names a part that the style adds and no page has", shown(text))
	} else {
		return fmt.Errorf("%s is no CSS selector: %w", shown(text), err)
	}
}

// checkPattern is for what is taken out of texts.
func checkPattern(text string) error {
	if text == "" {
		return errors.New("is empty")
	}
	if _, err := regexp.Compile(text); err != nil {
		return fmt.Errorf("%s: %w", shown(text), err)
	}
	return nil
}
