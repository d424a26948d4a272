package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The limits are far above any configuration and low enough that reading one takes neither much time nor the stack,
// whatever is in it.
const (
	maxFileBytes = 8 << 20
	maxLineBytes = 64 << 10
	maxFlowDepth = 64
)

// lineError is an error at a line.
type lineError struct {
	line int
	text string
}

func (e lineError) Error() string { return e.text }

func at(line int, format string, args ...any) error {
	return lineError{line, fmt.Sprintf(format, args...)}
}

// parseYAML reads the one document of a file; nil where there is nothing in it. What YAML has and a configuration does
// not need is refused, most of all aliases, which let a short file describe an endless one.
func parseYAML(data []byte) (root ast.Node, err error) {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if err := checkText(data); err != nil {
		return nil, err
	}
	// The library has panicked on broken input before (its issues 540 and 718), and a daemon that is told to reload a
	// broken file goes on with the old one, whatever is broken about it.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, at(0, "is not YAML: %v", p)
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxError(err, data)
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			return nil, at(line(doc.Body), "a second document begins here, there can be one only")
		}
		root = doc.Body
	}
	return root, nil
}

// checkText refuses what is not lines of text.
func checkText(data []byte) error {
	if len(data) > maxFileBytes {
		return at(0, "file of %s is longer than %s", FormatSize(int64(len(data))), FormatSize(maxFileBytes))
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return at(1, "begins with a byte order mark, save it as UTF-8 without one")
	}
	number := 0
	for text := range bytes.Lines(data) {
		number++
		text = bytes.TrimSuffix(text, []byte("\n"))
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		switch {
		case len(text) > maxLineBytes:
			return at(number, "line of %d bytes is longer than %d", len(text), maxLineBytes)
		case !utf8.Valid(text):
			return at(number, "is not UTF-8 text")
		case bytes.ContainsFunc(text, isControl):
			return at(number, "has a control character")
		case bytes.Contains(indent, []byte("\t")) && len(indent) < len(text):
			return at(number, "is indented with a tab, write spaces")
		}
	}
	return nil
}

// isControl includes the line ends that YAML or editors see and others do not.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

func checkTokens(tokens token.Tokens) error {
	depth := 0
	for _, t := range tokens {
		n := 0
		if t.Position != nil {
			n = t.Position.Line
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return at(n, "anchors and aliases are not used here, put a word that begins with %s in quotes", t.Value[:min(1, len(t.Value))])
		case token.TagType:
			return at(n, "tags are not used here, put a word that begins with ! in quotes")
		case token.MappingKeyType:
			return at(n, "keys are written without ?, put a word that begins with ? in quotes")
		case token.DirectiveType:
			return at(n, "directives are not used here, put a word that begins with %% in quotes")
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		if depth > maxFlowDepth {
			return at(n, "nests deeper than %d", maxFlowDepth)
		}
	}
	return nil
}

// syntaxError keeps the line and the first line of the library's message, without the excerpt of the file below it,
// in which a password may stand. Where that says no more than that something is out of place, it adds the likely cause.
func syntaxError(err error, data []byte) error {
	var located yaml.Error
	if !errors.As(err, &located) {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return at(0, "is not YAML: %s", text)
	}
	n := 0
	if t := located.GetToken(); t != nil && t.Position != nil {
		n = t.Position.Line
	}
	text, _, _ := strings.Cut(located.GetMessage(), "\n")
	if strings.Contains(text, "reserved character") {
		text += ", put the word in quotes"
	}
	if strings.Contains(text, "not allowed in this context") {
		text += likelyCause(data, n)
	}
	return at(n, "is not YAML: %s", text)
}

// likelyCause is what to look for on a line where something is out of place. The library names the line before one that is indented too far.
func likelyCause(data []byte, number int) string {
	lines := bytes.Split(data, []byte("\n"))
	if number < 1 || number > len(lines) {
		return ""
	}
	if text := lines[number-1]; bytes.Count(text, []byte(": ")) > 1 && !bytes.Contains(text, []byte("{")) {
		return `, put a value with ": " in it in quotes`
	}
	return ", indent this line and the next with as many spaces as the keys that they belong to"
}
