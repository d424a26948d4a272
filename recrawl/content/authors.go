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

// presences are what stands for itself beside a post: whether its author is there just now.
var presences = map[string]bool{"online": true, "offline": true, "en ligne": true, "hors ligne": true, "connecté": true, "déconnecté": true, "conectado": true, "desconectado": true,
	"en línea": true, "desconectado(a)": true, "in linea": true, "non in linea": true, "connesso": true, "non connesso": true, "в сети": true, "не в сети": true, "оффлайн": true, "онлайн": true,
	"çevrimiçi": true, "çevrimdışı": true, "オンライン": true, "オフライン": true, "在线": true, "离线": true, "線上": true, "離線": true, "온라인": true, "오프라인": true}

// longestPresence is the length of the longest of presences in bytes.
const longestPresence = 16

// labelAuthors marks the lines of how many topics somebody began, which stand behind those of how many posts he wrote, and those of whether he is there, of which a
// forum has no more than of these: else they are of servers, rather.
func (v *View) labelAuthors() {
	authors, present := 0, 0
	for i := range v.blocks {
		b := &v.blocks[i]
		switch _, _, posts := written(b.Text, postWords); {
		case posts:
			authors++
			if i+1 < len(v.blocks) {
				_, _, v.blocks[i+1].began = written(v.blocks[i+1].Text, threadWords)
			}
		case isPresence(b.Text):
			b.presence = true
			present++
		}
	}
	for i := range v.blocks {
		v.blocks[i].presence = v.blocks[i].presence && present <= authors
	}
}

func isPresence(text string) bool {
	return len(text) <= longestPresence && presences[strings.ToLower(text)]
}

// attends tells whether all that differs of a pair is whether the author of a post is there.
func (p *pair) attends() bool {
	return p.before != nil && p.after != nil && p.before.presence && p.after.presence
}

// recount pairs the lines of how much each of several authors has written anew, by where they lead and the lowest with the lowest: where one has 98 now and another had, these
// say the same, and what is left of both are 97 and 99. Where all such lines of both views, paired so, differ by as little as what somebody wrote does,
// what is left of them does, too: of 13 and 15, and 15 and 17, that is 13 and 17.
func (d *difference) recount(all []pair) {
	of := make(map[string][]int)
	for i := range all {
		if p := &all[i]; p.before != nil && p.after != nil {
			_, was, ok := p.before.written()
			if _, is, same := p.after.written(); ok && same && was == is {
				of[is] = append(of[is], i)
			}
		}
	}
	for label, at := range of {
		few := fewMore(d.before.authors(label), d.after.authors(label))
		before, after := make([]*Block, len(at)), make([]*Block, len(at))
		for i, n := range at {
			before[i], after[i] = all[n].before, all[n].after
		}
		slices.SortStableFunc(before, byWritten)
		slices.SortStableFunc(after, byWritten)
		for i, n := range at {
			all[n].before, all[n].after, all[n].wrote = before[i], after[i], few
		}
	}
}

// authors is how much the lines of a view with a label say that authors have written, the least first.
func (v *View) authors(label string) (counts []float64) {
	for i := range v.blocks {
		if count, is, ok := v.blocks[i].written(); ok && is == label {
			counts = append(counts, count)
		}
	}
	slices.Sort(counts)
	return counts
}

// fewMore tells whether each of as many counts is a little more than another one, or the same.
func fewMore(was, is []float64) bool {
	if len(was) != len(is) {
		return false
	}
	for i := range is {
		if is[i] < was[i] || !isFew(was[i], is[i]) {
			return false
		}
	}
	return true
}

// written is what a line of a forum says of how much the author of a post has written, or how many topics he began.
func (b *Block) written() (count float64, label string, ok bool) {
	if b.began {
		return written(b.Text, threadWords)
	}
	return written(b.Text, postWords)
}

// byWritten orders the lines of each author, where they lead to what he has written, by how much that is.
func byWritten(a, b *Block) int {
	one, _, _ := a.written()
	other, _, _ := b.written()
	return cmp.Or(slices.CompareFunc(a.Links, b.Links, func(one, other Link) int { return cmp.Compare(one.Target, other.Target) }), cmp.Compare(one, other))
}
