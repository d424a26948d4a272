package content

// Rung is one way to tell whether a body is another content; the cheaper ones are what Judge is measured against.
type Rung func(before, after *View) bool

// Rungs are the ways without memory, the simplest first.
func Rungs() (names []string, rungs []Rung) {
	differ := func(hash func(*View, *Block) (uint64, bool)) Rung {
		return func(before, after *View) bool { d := compare(before, after, hash); return !d.empty() }
	}
	return []string{"bytes", "text", "text+links", "main"}, []Rung{
		func(before, after *View) bool { return before.print != after.print },
		differ(anyText), differ(anyLink), differ(mainBlock),
	}
}
