package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Count adds a known page that the parent links to, if it is a child: one that lies deeper. What every page of a site
// links to, its navigation, tells nothing about the page that links to it. A page that is looked at rarely, whatever it does,
// counts only where it was seen to change: redirects, dead links, duplicates and what is left aside would keep a parent's share low for ever.
func (s *ChildShare) Count(parent, child *Page) {
	if child.Level <= parent.Level {
		return
	}
	changed := child.Stats.ChangedAt
	if changed == 0 {
		changed = child.Stats.FirstAt
	}
	switch {
	case changed > parent.FullAt:
		s.Known++
		s.Changed++
	case !slices.Contains(quietStates, child.State) && !slices.Contains(quietRules, child.Rule):
		s.Known++
	}
}

// The pages that are looked at rarely, whatever they do.
var (
	quietStates = []PageState{StateMoved, StateGone, StateExcluded}
	quietRules  = []Rule{RuleDuplicate, RuleOriginal, RuleAside}
)

// countedChild is the children that Count counts, by what says that one changed.
func countedChild(changed string) string {
	return fmt.Sprintf("(%s = 1 OR c.state NOT IN (%s) AND c.rule NOT IN (%s))", changed, listed(quietStates), listed(quietRules))
}

// add adds what further children make of a share.
func (s *ChildShare) add(more ChildShare) {
	s.Known += more.Known
	s.Changed += more.Changed
}

// listed is words of a closed set as a statement names them.
func listed[T ~int16](words []T) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = strconv.Itoa(int(w))
	}
	return strings.Join(list, ", ")
}
