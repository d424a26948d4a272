package content

import (
	"cmp"
	"slices"
	"strings"
)

// Forums say beside each post how much its author has written by now, in all: one more post, or a topic that is deleted, and it is another number on all
// pages that he wrote on.

// written is the number of a line that says no more than how much somebody has written (Posts: 39), and the words for what.
func written(text string, of vocabulary) (count float64, label string, ok bool) {
	label, number, ok := strings.Cut(text, ":")
	count = countOf(number)
	return count, label, ok && count >= 0 && of[bareWord(label)]
}

// labelAuthors marks the lines of how many topics somebody began, which stand behind those of how many posts he wrote.
func (v *View) labelAuthors() {
	for i := 1; i < len(v.blocks); i++ {
		if _, _, posts := written(v.blocks[i-1].Text, postWords); posts {
			_, _, v.blocks[i].began = written(v.blocks[i].Text, threadWords)
		}
	}
}

// recount pairs the lines of how much each of several authors has written anew, the lowest with the lowest: where one has 98 now and another had, these
// say the same, and what is left of both are 97 and 99.
func recount(all []pair) {
	of := make(map[string][]int)
	for i := range all {
		if p := &all[i]; p.before != nil && p.after != nil {
			_, was, ok := written(p.before.Text, postWords)
			if _, is, same := written(p.after.Text, postWords); ok && same && was == is {
				of[is] = append(of[is], i)
			}
		}
	}
	for _, at := range of {
		before, after := make([]*Block, len(at)), make([]*Block, len(at))
		for i, n := range at {
			before[i], after[i] = all[n].before, all[n].after
		}
		slices.SortStableFunc(before, byWritten)
		slices.SortStableFunc(after, byWritten)
		for i, n := range at {
			all[n].before, all[n].after = before[i], after[i]
		}
	}
}

func byWritten(a, b *Block) int {
	one, _, _ := written(a.Text, postWords)
	other, _, _ := written(b.Text, postWords)
	return cmp.Compare(one, other)
}
