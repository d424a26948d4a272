package content

// Every lists all that differs between two views, in the main content or not.
func Every(before, after *View) []BlockChange {
	d := compare(before, after, anyBlock)
	pairs := d.pairs()
	classify(pairs, span{})
	return d.changes(pairs)
}
