package content

// emphasis notes mark-up of words and lists that a reader sees: bold, italic, code, struck out, numbered or not.
func (r *reader) emphasis(name string) {
	switch name {
	case "b", "strong":
		name = "b"
	case "i", "em":
		name = "i"
	case "code", "del", "s":
	case "li":
		name = r.list()
	default:
		return
	}
	if !r.top().silent {
		r.form = mix(r.form ^ hashString(slotSeed, name) + uint64(r.runes))
	}
}

// list is the innermost kind of list that is open.
func (r *reader) list() string {
	for i := len(r.open) - 1; i > 0; i-- {
		if name := r.open[i].name; name == "ul" || name == "ol" {
			return name
		}
	}
	return ""
}
