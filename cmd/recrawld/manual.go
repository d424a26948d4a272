package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manualCmd prints the manual page: what --help says of all commands, from the same model.
type manualCmd struct {
	Date string `arg:"" help:"That the page bears."`
}

// Run implements the command.
func (c manualCmd) Run(g *globals, parsed *kong.Context) error {
	_, err := fmt.Fprint(g.Stdout, manual(parsed.Model.Node, c.Date))
	return err
}

const manualFiles = `
.SH FILES
.TP
.I /etc/recrawld/recrawld.yaml
The configuration, with every setting that there is, where recrawld was
installed as a package.
.TP
.I /var/lib/recrawld
All state of the daemon that systemd runs.
.SH SEE ALSO
.I /usr/share/doc/recrawld/README.md
and the pages in
.I /usr/share/doc/recrawld/docs
tell what it does and how it is run for years.
`

// manual is the page in the language of man(7).
func manual(model *kong.Node, date string) string {
	b := new(strings.Builder)
	about, exits, _ := strings.Cut(model.Help, "Exit codes: ")
	fmt.Fprintf(b, ".TH RECRAWLD 1 %q %q %q\n", date, "recrawld "+versionText(), "User Commands")
	b.WriteString(".SH NAME\nrecrawld \\- keep a known set of URLs fresh under a fetch budget\n")
	b.WriteString(".SH SYNOPSIS\n.B recrawld\n.I command\n[arguments] [flags]\n.SH DESCRIPTION\n")
	b.WriteString(roffText(about))
	b.WriteString(".SH FLAGS OF ALL COMMANDS\n")
	manualFlags(b, model)
	b.WriteString(".SH COMMANDS\n")
	for _, child := range model.Children {
		manualCommand(b, child)
	}
	b.WriteString(".SH EXIT STATUS\n" + roffText(exits) + strings.TrimLeft(manualFiles, "\n"))
	return b.String()
}

// manualCommand writes a command, and those below it.
func manualCommand(b *strings.Builder, node *kong.Node) {
	if node.Hidden {
		return
	}
	fmt.Fprintf(b, ".SS \"%s\"\n%s", roff("recrawld "+node.Summary()), roffText(node.Help))
	if node.Detail != "" {
		b.WriteString(".PP\n.nf\n")
		for text := range strings.Lines(strings.TrimRight(node.Detail, "\n")) {
			b.WriteString(roffLine(roff(strings.TrimRight(text, "\n"))))
		}
		b.WriteString(".fi\n")
	}
	for _, arg := range node.Positional {
		fmt.Fprintf(b, ".TP\n\\fI%s\\fR\n%s", roff(arg.Name), roffText(cmp.Or(arg.Help, arg.Name)))
	}
	manualFlags(b, node)
	for _, child := range node.Children {
		manualCommand(b, child)
	}
}

// manualFlags writes the flags of a command, without those of the commands above it.
func manualFlags(b *strings.Builder, node *kong.Node) {
	for _, flag := range node.Flags {
		if flag.Hidden {
			continue
		}
		b.WriteString(".TP\n")
		if flag.Short != 0 {
			fmt.Fprintf(b, "\\fB\\-%c\\fR, ", flag.Short)
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(flag.Name))
		if !flag.IsBool() {
			fmt.Fprintf(b, "=\\fI%s\\fR", roff(flag.FormatPlaceHolder()))
		}
		b.WriteString("\n" + roffText(flag.Help))
	}
}

// roffWidth is how long the lines of the page's source are.
const roffWidth = 78

// roffText is text in paragraphs.
func roffText(text string) string {
	b := new(strings.Builder)
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		line := ""
		for _, word := range strings.Fields(roff(paragraph)) {
			if line != "" && len(line)+1+len(word) > roffWidth {
				b.WriteString(roffLine(line))
				line = ""
			}
			line = strings.TrimLeft(line+" "+word, " ")
		}
		b.WriteString(roffLine(line))
	}
	return b.String()
}

// roffLine is a line that is none of the language's own, whatever it begins with.
func roffLine(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, `\(aq`) {
		line = `\&` + line
	}
	return line + "\n"
}

// roff writes text so that it reads as it is, to be copied as well.
func roff(text string) string {
	b := new(strings.Builder)
	for _, r := range text {
		escape, special := map[rune]string{'\\': `\e`, '-': `\-`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`, '"': `\(dq`}[r]
		switch {
		case special:
			b.WriteString(escape)
		case r > '~':
			fmt.Fprintf(b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
