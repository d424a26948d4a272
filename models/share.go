package models

// Count adds a known child to the share of its parent.
func (s *ChildShare) Count(parent, child *Page) {
	s.Known++
	changed := child.Stats.ChangedAt
	if changed == 0 {
		changed = child.Stats.FirstAt
	}
	if changed > parent.FullAt {
		s.Changed++
	}
}
