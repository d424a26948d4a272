package intake

import (
	"bufio"
	"errors"
	"fmt"
	"iter"

	"recrawld/recrawl/sitemap"
)

// readSitemap reads a sitemap, an index of sitemaps, whose files are pages like others, or a feed.
func readSitemap(in *bufio.Reader, _ Options) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		number := 0
		_, err := sitemap.Walk(in, func(raw sitemap.Raw) bool {
			number++
			at := Place{Unit: "entry", Number: number}
			if err := checkLoc(raw.Loc); err != nil {
				return yield(Item{}, NewBad(at, raw.Loc, err))
			}
			return yield(Item{URL: raw.Loc, Place: at}, nil)
		})
		switch {
		case errors.Is(err, sitemap.ErrFormat):
			yield(Item{}, fmt.Errorf("%w: %w", ErrFormat, err))
		case err != nil:
			yield(Item{}, &Damaged{Place{Unit: "entry", Number: number + 1}, err})
		}
	}
}

// checkLoc says what is wrong with the address of an entry, as far as it is no matter of URLs.
func checkLoc(loc string) error {
	switch {
	case loc == "":
		return errors.New("it has no address")
	case len(loc) > sitemap.MaxURLBytes:
		return fmt.Errorf("longer than %d bytes", sitemap.MaxURLBytes)
	}
	return nil
}
