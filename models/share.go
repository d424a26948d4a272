package models

// Count adds a known page that the parent links to, if it is a child: one that lies deeper. What every page of a site
// links to, its navigation, tells nothing about the page that links to it.
func (s *ChildShare) Count(parent, child *Page) {
	if child.Level <= parent.Level {
		return
	}
	s.Known++
	changed := child.Stats.ChangedAt
	if changed == 0 {
		changed = child.Stats.FirstAt
	}
	if changed > parent.FullAt {
		s.Changed++
	}
}

// add adds what further children make of a share.
func (s *ChildShare) add(more ChildShare) {
	s.Known += more.Known
	s.Changed += more.Changed
}
