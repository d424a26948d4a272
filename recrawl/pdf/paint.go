package pdf

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// matrix maps points (section 8.3.3): x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// after is what maps by m first, then by n.
func (m matrix) after(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is what q saves and Q restores, as far as text needs it (sections 8.4 and 9.3).
type state struct {
	ctm     matrix
	font    *font
	size    float64
	leading float64 // from line to line
	between float64 // letters
	word    float64 // words, besides
	stretch float64 // by which letters are wider than they are: 0, not at all
}

// Bounds of a page's instructions.
const (
	mostSaved    = 256 // states
	mostOperands = 64
	mostForms    = 8 // that lie in each other
)

// painter follows the instructions that draw a page and notes the text.
type painter struct {
	state

	reader *reader
	saved  []state
	tm     matrix // of text
	line   matrix // of the line of text
	moved  bool   // since the last text was drawn
	drew   matrix // by which the last was drawn that is no text

	lines []line
}

// form is a picture of instructions (section 8.10).
type form struct {
	text      []byte
	matrix    value
	resources *resources
}

// run follows the instructions of a page, or of a form in it.
func (p *painter) run(text []byte, resources *resources, forms int) {
	l := lexer{text: text}
	var operands []value
	for token := l.next(); token != "" && !l.broken; token = l.next() {
		if p.reader.full() {
			l.broken = true
			break
		}
		switch c := token[0]; {
		case c == '/' || c == '(' || c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9' || c == '<' && token != "<<":
			operands = append(operands, value{token: token})
		case token == "[" || token == "<<":
			l.at -= len(token)
			operands = append(operands, l.value(0))
		case token == "ID":
			began := l.at
			l.picture()
			p.besides(string(text[began:l.at]), operands)
			operands = operands[:0]
		case token == "Do":
			p.besides(token, operands)
			p.form(name(operands), resources, forms)
			operands = operands[:0]
		case token == "Tf":
			p.selects(operands, resources)
			operands = operands[:0]
		default:
			p.operator(token, operands)
			operands = operands[:0]
		}
		if len(operands) > mostOperands {
			p.besides("", operands)
			operands = operands[:0]
		}
	}
	if l.broken { // how far it was read makes no difference
		p.reader.rest.write(string(text))
	}
}

// besides notes an instruction that is no text.
func (p *painter) besides(token string, operands []value) {
	rest := p.reader.rest
	if p.ctm != p.drew {
		p.drew = p.ctm
		rest.write(fmt.Sprint(p.ctm))
	}
	for i := range operands {
		rest.value("", &operands[i])
	}
	rest.write(token)
}

// picture passes by a picture that stands among the instructions (section 8.9.7).
func (l *lexer) picture() {
	for l.at < len(l.text) {
		end := bytes.Index(l.text[l.at:], []byte("EI"))
		if end < 0 {
			l.at = len(l.text)
			return
		}
		end += l.at
		l.at = end + 2
		if (end == 0 || isSpace(l.text[end-1])) && (l.at == len(l.text) || isSpace(l.text[l.at])) {
			return
		}
	}
}

// form draws a form.
func (p *painter) form(called string, resources *resources, forms int) {
	drawn := p.reader.form(resources.objects.entry(called), resources)
	if drawn == nil || forms >= mostForms || !p.reader.file.take(len(drawn.text)) {
		return
	}
	was, saved := p.state, p.saved
	if len(drawn.matrix.list) == 6 {
		p.ctm = matrixOf(drawn.matrix.list).after(p.ctm)
	}
	p.saved = nil
	p.run(drawn.text, drawn.resources, forms+1)
	p.state, p.saved = was, saved
}

// form reads a form; nil: it is none, or cannot be read.
func (r *reader) form(v value, outer *resources) *form {
	if known, ok := r.forms[v.ref]; ok || v.ref == 0 {
		return known
	}
	r.forms[v.ref] = nil
	dict := r.file.resolve(v)
	if dict.entry("/Subtype").token != "/Form" {
		return nil
	}
	text, ok := r.file.data(v)
	if !ok {
		return nil
	}
	r.rest.known[v.ref] = knownStream
	r.forms[v.ref] = &form{text: text, matrix: r.file.resolve(dict.entry("/Matrix")), resources: r.resources(&dict, outer)}
	return r.forms[v.ref]
}

// selects takes a font in a size.
func (p *painter) selects(operands []value, resources *resources) {
	if len(operands) < 2 {
		return
	}
	p.font, p.size = p.reader.named(operands[len(operands)-2].token, resources), number(operands[len(operands)-1])
}

// operator follows any other instruction.
func (p *painter) operator(token string, operands []value) {
	n := func(i int) float64 {
		if i < len(operands) {
			return number(operands[i])
		}
		return 0
	}
	switch token {
	case "q":
		if len(p.saved) < mostSaved {
			p.saved = append(p.saved, p.state)
		}
	case "Q":
		if last := len(p.saved) - 1; last >= 0 {
			p.state, p.saved = p.saved[last], p.saved[:last]
		}
	case "cm":
		p.ctm = matrixOf(operands).after(p.ctm)
	case "BT":
		p.tm, p.line, p.moved = identity, identity, true
	case "Tm":
		p.line, p.moved = matrixOf(operands), true
		p.tm = p.line
	case "Td":
		p.next(n(0), n(1))
	case "TD":
		p.leading = -n(1)
		p.next(n(0), n(1))
	case "TL":
		p.leading = n(0)
	case "Tc":
		p.between = n(0)
	case "Tw":
		p.word = n(0)
	case "Tz":
		p.stretch = n(0)/100 - 1
	default:
		p.text(token, operands, n)
	}
}

// text follows an instruction that draws, or begins a line of text.
func (p *painter) text(token string, operands []value, n func(int) float64) {
	switch token {
	case "T*", "'", "\"":
		if token == "\"" {
			p.word, p.between = n(0), n(1)
		}
		p.next(0, -p.leading)
		if token == "T*" {
			return
		}
	case "Tj", "TJ":
	case "ET", "EMC", "Ts":
		return
	default:
		p.besides(token, operands)
		return
	}
	if len(operands) == 0 {
		return
	}
	shown := operands[len(operands)-1]
	if shown.token != "[" {
		p.show(shown.bytes())
		return
	}
	for i := range shown.list {
		if v := shown.list[i]; v.token[0] == '(' || v.token[0] == '<' {
			p.show(v.bytes())
		} else {
			p.shift(-number(v) / 1000 * p.size * (1 + p.stretch))
			p.moved = p.moved || number(v) < -leastGap*1000
		}
	}
}

// next begins a line of text at a place beside the beginning of the last.
func (p *painter) next(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.after(p.line)
	p.tm, p.moved = p.line, true
}

// shift moves on along the line.
func (p *painter) shift(by float64) {
	p.tm[4] += by * p.tm[0]
	p.tm[5] += by * p.tm[1]
}

// show draws text.
func (p *painter) show(codes []byte) {
	if p.font == nil {
		p.reader.rest.write(string(codes))
		return
	}
	for len(codes) > 0 {
		g, rest := p.font.next(codes)
		begins, size := p.place()
		p.shift((g.width*p.size + p.between) * (1 + p.stretch))
		if g.space {
			p.shift(p.word * (1 + p.stretch))
		}
		ends, _ := p.place()
		if g.text == "" {
			p.reader.rest.write(string(codes[:len(codes)-len(rest)]))
		}
		p.draw(g.text, begins, ends, size)
		codes = rest
	}
}

// place is where the next glyph is drawn, and how tall.
func (p *painter) place() (at [2]float64, size float64) {
	m := p.tm.after(p.ctm)
	return [2]float64{m[4], m[5]}, math.Abs(p.size) * math.Hypot(m[2], m[3])
}

func name(operands []value) string {
	if len(operands) == 0 {
		return ""
	}
	return operands[len(operands)-1].token
}

// number is a number; 0 for what is none, or none that a page can have.
func number(v value) float64 {
	n, err := strconv.ParseFloat(v.token, 64)
	if err != nil || math.IsNaN(n) || math.Abs(n) > 1e9 {
		return 0
	}
	return n
}

func matrixOf(list []value) (m matrix) {
	for i := range min(len(list), len(m)) {
		m[i] = number(list[i])
	}
	return m
}
