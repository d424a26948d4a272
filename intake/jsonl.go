package intake

import (
	"encoding/json"
	"errors"
)

// jsonLine reads a line of JSON that names a page by "url": the list of pages of a package, whose first line is a heading, or the manifest of a
// mirror, in which a page has a state.
func jsonLine(text string) (Item, error) {
	var page struct {
		URL    string `json:"url"`
		Format string `json:"format"`
		State  string `json:"state"`
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		return Item{}, err
	}
	switch {
	case page.URL == "" && page.Format != "":
		return Item{Skip: true}, nil
	case page.URL == "":
		return Item{}, errors.New("an object without url")
	}
	return Item{URL: page.URL, Skip: notThere[page.State] || otherScheme(page.URL)}, nil
}

// notThere are the states of a manifest in which a page is none any more.
var notThere = map[string]bool{"gone": true, "moved": true, "excluded": true, "removed": true}
