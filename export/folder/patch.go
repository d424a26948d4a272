package folder

// patch is a text with some places replaced, one behind the other. All else stays byte for byte.
type patch struct {
	in   []byte
	out  []byte
	done int // of in, what out has
}

// replace puts a text in place of what stands there. It comes behind what was replaced before.
func (p *patch) replace(start, end int, text string) {
	p.out = append(append(p.out, p.in[p.done:start]...), text...)
	p.done = end
}

// touched tells whether anything was replaced.
func (p *patch) touched() bool { return p.done > 0 || len(p.out) > 0 }

// text is the whole. Where nothing was replaced it is what there was.
func (p *patch) text() []byte {
	if !p.touched() {
		return p.in
	}
	p.out = append(p.out, p.in[p.done:]...)
	p.done = len(p.in)
	return p.out
}
