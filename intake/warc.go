package intake

import (
	"bufio"
	"iter"

	"recrawld/archive"
)

// readWARC reads the addresses that answered with a status of 2xx. A revisit says that one answered as before, with such a status or 304.
func readWARC(in *bufio.Reader, _ Options) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		at := Place{Unit: "record"}
		for head, err := range archive.Heads(in) {
			at.Number++
			if err != nil {
				yield(Item{}, &Damaged{at, err})
				return
			}
			good := head.Status >= 200 && head.Status < 300
			switch head.Type {
			case "response":
			case "revisit":
				good = good || head.Status == 304 || head.Status == 0
			default:
				good = false
			}
			if !yield(Item{URL: head.URL, Skip: !good || otherScheme(head.URL), Place: at}, nil) {
				return
			}
		}
	}
}
