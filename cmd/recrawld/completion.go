package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

//go:embed completion
var completionScripts embed.FS

// completionCmd prints what has a shell complete recrawld's command lines.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help says where it goes: Debian's package has it in place.
func (completionCmd) Help() string {
	return `Where recrawld was not installed as a package:

  bash  echo 'source <(recrawld completion bash)' >>~/.bashrc
  zsh   echo 'source <(recrawld completion zsh)' >>~/.zshrc    (after compinit)
  fish  recrawld completion fish >~/.config/fish/completions/recrawld.fish`
}

// Run implements the command.
func (c completionCmd) Run(g *globals) error {
	if g.JSON {
		return usagef("what a shell reads is no JSON: without --json, please")
	}
	script, err := completionScripts.ReadFile("completion/recrawld." + c.Shell)
	if err == nil {
		_, err = g.Stdout.Write(script)
	}
	return err
}

// completeCmd answers what those scripts ask: how the last of some words may go on, a way on a line, with what it means behind a tab.
// A line ":files" says that it is the name of a file.
type completeCmd struct {
	Words []string `arg:"" optional:""`
}

// Run implements the command.
func (c completeCmd) Run(g *globals, parsed *kong.Context) error {
	found, files := ways(parsed.Model.Node, c.Words)
	if files {
		fmt.Fprintln(g.Stdout, ":files")
	}
	for _, w := range found {
		fmt.Fprintf(g.Stdout, "%s\t%s\n", w.word, w.about)
	}
	return nil
}

// way is how a command line may go on.
type way struct{ word, about string }

// speller is a command that knows the words that one of its flags or arguments takes, where the model does not.
type speller interface{ words(name string) []string }

// unfinished is a command line that is being written, up to its last word.
type unfinished struct {
	command *kong.Node
	places  int         // arguments that it has
	plain   bool        // -- has come: no flags any more
	of      *kong.Value // of the flag before, whose value comes next; nil: of none
}

// ways are the ways in which the last word of a command line goes on; files: it is the name of a file.
func ways(model *kong.Node, words []string) (found []way, files bool) {
	last := ""
	if n := len(words); n > 0 {
		words, last = words[:n-1], words[n-1]
	}
	l := unfinished{command: model}
	for _, word := range words {
		l.take(word)
	}
	name, _, assigned := strings.Cut(last, "=")
	switch flag := l.flag(name); {
	case l.of != nil:
		return l.values(l.of, "", last)
	case assigned && flag != nil:
		return l.values(flag.Value, name+"=", last)
	case !l.plain && strings.HasPrefix(last, "-"):
		return l.flags(last), false
	case l.places == 0 && len(l.command.Children) > 0:
		for _, child := range l.command.Children {
			if !child.Hidden && strings.HasPrefix(child.Name, last) {
				found = append(found, way{child.Name, child.Help})
			}
		}
		return found, false
	}
	if args := l.command.Positional; l.places < len(args) {
		return l.values(args[l.places], "", last)
	} else if n := len(args); n > 0 && args[n-1].IsCumulative() {
		return l.values(args[n-1], "", last)
	}
	return nil, false
}

// take passes over a word.
func (l *unfinished) take(word string) {
	switch flag := l.flag(word); {
	case l.of != nil:
		l.of = nil
	case !l.plain && word == "--":
		l.plain = true
	case flag != nil && !flag.IsBool():
		l.of = flag.Value
	case !l.plain && strings.HasPrefix(word, "-") && word != "-":
	default:
		for _, child := range l.command.Children {
			if child.Name == word {
				l.command = child
				return
			}
		}
		l.places++
	}
}

// flag is the flag of that name, with its dashes; nil: there is none.
func (l *unfinished) flag(name string) *kong.Flag {
	for _, group := range l.command.AllFlags(false) {
		for _, flag := range group {
			if !l.plain && (name == "--"+flag.Name || flag.Short != 0 && name == "-"+string(flag.Short)) {
				return flag
			}
		}
	}
	return nil
}

// flags are those that begin so.
func (l *unfinished) flags(begin string) (found []way) {
	for _, group := range l.command.AllFlags(true) {
		for _, flag := range group {
			if word := "--" + flag.Name; strings.HasPrefix(word, begin) {
				found = append(found, way{word, flag.Help})
			}
		}
	}
	return found
}

// values are those of a flag or an argument that begin so, behind what stands before them in the word.
func (l *unfinished) values(of *kong.Value, before, begin string) (found []way, files bool) {
	words := of.EnumSlice()
	if s, ok := l.command.Target.Interface().(speller); ok {
		words = append(words, s.words(of.Name)...)
	}
	for _, word := range words {
		if word != "" && strings.HasPrefix(before+word, begin) {
			found = append(found, way{before + word, of.Help})
		}
	}
	return found, len(found) == 0 && ofFiles(of)
}

// ofFiles tells whether a flag or an argument names a file or a directory.
func ofFiles(of *kong.Value) bool {
	switch of.Tag.Type {
	case "path", "existingfile", "existingdir":
		return true
	}
	return of.Name == "file" || of.Flag != nil && (of.Flag.PlaceHolder == "FILE" || of.Flag.PlaceHolder == "DIR")
}
