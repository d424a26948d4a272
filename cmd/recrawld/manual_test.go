package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// model is the command line as the commands have it.
func model(t *testing.T) *kong.Node {
	t.Helper()
	parser, err := newParser(new(cli), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model.Node
}

// plainRoff is a page without fonts and escapes, as it reads.
func plainRoff(page string) string {
	page = regexp.MustCompile(`\\f[BIR]`).ReplaceAllString(page, "")
	return strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\(dq`, `"`, `\(ga`, "`", `\(ti`, "~", `\(ha`, "^", `\&`, "", `\e`, `\`).Replace(page)
}

// The manual page has every command with what it does, and every flag and argument of it, below its heading.
func TestTheManualHasEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	root := model(t)
	page := plainRoff(manual(root, "2026-11-23"))
	_, commands, _ := strings.Cut(page, "\n.SH COMMANDS")
	sections := map[string]string{}
	for _, section := range strings.Split(commands, "\n.SS ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		sections[strings.Trim(heading, `"`)] = text
	}
	sections[root.Summary()] = page
	visited := 0
	var visit func(node *kong.Node)
	visit = func(node *kong.Node) {
		heading := "recrawld " + node.Summary()
		if node.Type == kong.ApplicationNode {
			heading = node.Summary()
		}
		text, told := sections[heading]
		if told == node.Hidden {
			t.Errorf("%s is told: %t, hidden: %t", heading, told, node.Hidden)
		}
		if node.Hidden {
			return
		}
		visited++
		says := func(what string) {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(what), " ")) && !strings.ContainsFunc(what, notASCII) {
				t.Errorf("%s does not say %q", heading, what)
			}
		}
		for _, flag := range node.Flags {
			if !flag.Hidden {
				says("--" + flag.Name)
				says(flag.Help)
			}
		}
		for _, arg := range node.Positional {
			says(".TP " + arg.Name)
			says(arg.Help)
		}
		if node.Type == kong.CommandNode {
			says(node.Help)
			says(node.Detail)
		}
		for _, child := range node.Children {
			visit(child)
		}
	}
	visit(root)
	if visited < 35 || !strings.Contains(page, "\n.SH EXIT STATUS\n0 done") {
		t.Errorf("%d commands were looked for in\n%s", visited, page)
	}
}

func notASCII(r rune) bool { return r > '~' }

// What reads manual pages finds nothing wrong with it, and shows the text as it is.
func TestTheManualIsSound(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "recrawld.1")
	if err := os.WriteFile(page, []byte(must(t, "manual", "2026-11-23")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"mandoc", "-T", "lint", page}, {"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page}} {
		needs(t, words[0])
		c := exec.CommandContext(t.Context(), words[0], words[1:]...)
		var complaints strings.Builder
		if c.Stderr = &complaints; words[0] == "mandoc" { // which complains on standard output
			c.Stdout = &complaints
		}
		if err := c.Run(); err != nil || complaints.Len() > 0 {
			t.Errorf("%s: %v\n%s", strings.Join(words, " "), err, complaints.String())
		}
	}
	c := exec.CommandContext(t.Context(), "mandoc", "-T", "utf8", page)
	shown, err := c.Output()
	text := regexp.MustCompile(".\b").ReplaceAllString(string(shown), "") // overstruck: bold and underlined
	for _, want := range []string{"-c, --config=FILE", "recrawld config check [<file>]", "postgres://…", "under systemd $STATE_DIRECTORY."} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("the page does not show %q (%v):\n%s", want, err, text)
		}
	}
}

// needs skips a test where a program is missing that .ci/deps installs.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("no %s here: make deps installs it", program)
	}
}

func TestTextOfTheManual(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a b":                 "a b\n",
		".SH no heading":      "\\&.SH no heading\n",
		"'quoted' \\f":        "\\&\\(aqquoted\\(aq \\ef\n",
		"one\n\ntwo – \"x\"":  "one\n.PP\ntwo \\[u2013] \\(dqx\\(dq\n",
		"--flag ~ ^ `":        "\\-\\-flag \\(ti \\(ha \\(ga\n",
		" \n wrapped\n line ": "wrapped line\n",
	} {
		if got := roffText(text); got != want {
			t.Errorf("roffText(%q) = %q, want %q", text, got, want)
		}
	}
	for line := range strings.Lines(roffText(strings.Repeat("some words. ", 100))) {
		if len(line) > roffWidth+1 || !slices.Contains([]string{"some", "words."}, strings.Fields(line)[0]) {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
}
