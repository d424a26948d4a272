package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"recrawld/internal/solo"
)

// typed is a command line with its cursor at the end, and how it goes on.
var typed = map[string][]string{
	"recrawld resu":                              {"resume"},
	"recrawld --json co":                         {"config", "completion"},
	"recrawld -c /x --log json con":              {"config"},
	"recrawld --config=/x rest":                  {"restore"},
	"recrawld config ":                           {"check", "show", "diff", "init"},
	"recrawld run --con":                         {"--config", "--contact"},
	"recrawld run https://example.org/ --lis":    {"--listen"},
	"recrawld resume one --st":                   {"--store"},
	"recrawld --log ":                            {"auto", "text", "json"},
	"recrawld status --log=t":                    {"--log=text"},
	"recrawld report change":                     {"change-rates"},
	"recrawld report --format=csv cal":           {"calibration"},
	"recrawld changes --kind re":                 {"refreshed", "restored", "removed"},
	"recrawld changes --kind=mo":                 {"--kind=moved"},
	"recrawld changes --site ":                   nil,
	"recrawld show https://e.org/ -- --lim":      nil,
	"recrawld show https://e.org/ --limit 3 --h": {"--help", "--header", "--have"},
	"recrawld completion ":                       {"bash", "zsh", "fish"},
	"recrawld completion fish ":                  nil,
	"recrawld comple":                            {"completion"},
	"recrawld nothing-such ":                     nil,
	"recrawld config check a-f":                  {"a-file.yaml"},
	"recrawld config diff a-file.yaml a-f":       {"a-file.yaml"},
	"recrawld status --data a-":                  {"a-file.yaml"},
	"recrawld status --data=a-":                  {"--data=a-file.yaml"},
	"recrawld restore a-":                        {"a-file.yaml"},
}

// TestHowCommandLinesGoOn: as all shells ask.
func TestHowCommandLinesGoOn(t *testing.T) {
	t.Parallel()
	for line, want := range typed {
		found, files := ways(model(t), strings.Split(line, " ")[1:])
		var got []string
		for _, w := range found {
			if got = append(got, w.word); w.about == "" || strings.ContainsAny(w.word+w.about, "\t\n") {
				t.Errorf("%s: %+v, want a line that says something", line, w)
			}
		}
		if files {
			got = []string{"a-file.yaml"}
			if strings.Contains(line, "--data=") {
				got[0] = "--data=" + got[0]
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q goes on with %q, want %q", line, got, want)
		}
	}
	if found, _ := ways(model(t), nil); len(found) < 30 {
		t.Errorf("%d commands, want all", len(found))
	}
}

// Of all commands, every flag is found by how it begins, and every value of those that take one of a few.
func TestEveryFlagAndValueGoesOn(t *testing.T) {
	t.Parallel()
	root, flags := model(t), 0
	for _, leaf := range root.Leaves(true) {
		path := strings.Fields(leaf.Path())
		goesOn := func(word string) {
			t.Helper()
			found, _ := ways(root, append(slices.Clone(path), word[:len(word)-1]))
			if !slices.ContainsFunc(found, func(w way) bool { return w.word == word }) {
				t.Errorf("%s %s goes on with %v", leaf.Path(), word[:len(word)-1], found)
			}
		}
		for _, group := range leaf.AllFlags(true) {
			for _, flag := range group {
				goesOn("--" + flag.Name)
				flags++
				for _, value := range flag.EnumSlice() {
					if value != "" {
						goesOn("--" + flag.Name + "=" + value)
					}
				}
			}
		}
	}
	if flags < 200 {
		t.Errorf("%d flags", flags)
	}
}

// shellHome is a directory with a file, and recrawld as an installed program in one that is the PATH's first.
func shellHome(t *testing.T) (dir string, env []string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bin/recrawld": "#!/bin/sh\nexec " + program + ` "$@"` + "\n", "a-file.yaml": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir, append(os.Environ(), asRecrawld+"=1", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "PATH="+bin+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8")
}

// inShell runs a script of a shell with the completion for it in its first argument and a command line in the second, and returns the
// lines that it prints.
func inShell(t *testing.T, dir string, env []string, shell []string, script, line string) []string {
	t.Helper()
	completion := filepath.Join(dir, "completion")
	if err := os.WriteFile(completion, []byte(must(t, "completion", filepath.Base(shell[0]))), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), shell[0], append(slices.Clone(shell[1:]), "-c", script, "shell", completion, line)...)
	c.Dir, c.Env = dir, env
	var complaints strings.Builder
	c.Stderr = &complaints
	out, err := c.Output()
	if err != nil || complaints.Len() > 0 {
		t.Errorf("%s for %q: %v\n%s", shell[0], line, err, complaints.String())
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// bashTyped has bash take a line apart as it does at the key: at blanks, and at = and :, which are words of their own.
const bashTyped = `source "$1"
COMP_WORDS=() COMP_LINE=$2 COMP_POINT=${#2}
read -ra parts <<<"$2"
[[ $2 == *' ' ]] && parts+=('')
for part in "${parts[@]}"; do
	if [[ -z $part ]]; then COMP_WORDS+=(''); fi
	while [[ $part =~ ^([^=:]*)([=:]+)(.*)$ ]]; do
		[[ -n ${BASH_REMATCH[1]} ]] && COMP_WORDS+=("${BASH_REMATCH[1]}")
		COMP_WORDS+=("${BASH_REMATCH[2]}") part=${BASH_REMATCH[3]}
	done
	[[ -n $part ]] && COMP_WORDS+=("$part")
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
how=$(complete -p recrawld)
[[ $how == 'complete -F _recrawld recrawld' ]] || echo "$how"
_recrawld recrawld "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"`

func TestBashCompletesCommandLines(t *testing.T) {
	solo.Test(t)
	t.Parallel()
	needs(t, "bash")
	dir, env := shellHome(t)
	for line, want := range typed {
		want = slices.Clone(want)
		for i := range want { // what stands before = stays as it is
			_, behind, cut := strings.Cut(want[i], "=")
			if cut {
				want[i] = behind
			}
		}
		got := inShell(t, dir, env, []string{"bash", "--norc"}, bashTyped, line)
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			t.Errorf("bash for %q (-want +got):\n%s", line, diff)
		}
	}
}

// zshTyped stands in for zsh's own functions, which only answer at the key.
const zshTyped = `compdef() { print -r -- "compdef $*" >&2; }
_describe() { local entry; for entry in "${(@P)4}"; do print -r -- "$ahead${entry%%:*}"; done; }
compset() { local last=${words[CURRENT]}; [[ $1 == -P && $last == ${~2}* ]] && ahead=${last%%=*}=; }
_files() { local file; for file in ${${words[CURRENT]}#$ahead}*(N); do print -r -- "$ahead$file"; done; }
typeset -g ahead=
words=(${(s: :)2})
[[ $2 == *' ' ]] && words+=('')
CURRENT=${#words}
source "$1" 2>/dev/null
_recrawld`

func TestZshCompletesCommandLines(t *testing.T) {
	solo.Test(t)
	t.Parallel()
	needs(t, "zsh")
	dir, env := shellHome(t)
	for line, want := range typed {
		got := inShell(t, dir, env, []string{"zsh", "-f"}, zshTyped, line)
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			t.Errorf("zsh for %q (-want +got):\n%s", line, diff)
		}
	}
}

func TestFishCompletesCommandLines(t *testing.T) {
	solo.Test(t)
	t.Parallel()
	needs(t, "fish")
	dir, env := shellHome(t)
	for line, want := range typed {
		got := inShell(t, dir, env, []string{"fish", "--no-config"}, `source $argv[2]; complete -C $argv[3]`, line)
		for i := range got {
			got[i], _, _ = strings.Cut(got[i], "\t")
		}
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			t.Errorf("fish for %q (-want +got):\n%s", line, diff)
		}
	}
}

// A shell that is not there is one of those that are.
func TestCompletionNamesTheShells(t *testing.T) {
	t.Parallel()
	if code, _, complaints := command(t, "completion", "tcsh"); code != exitUsage || !strings.Contains(complaints, `"bash","zsh","fish"`) {
		t.Errorf("completion tcsh = %d %s", code, complaints)
	}
	var leaf *kong.Node
	for _, child := range model(t).Children {
		if child.Name == "completion" {
			leaf = child
		}
	}
	for _, shell := range leaf.Positional[0].EnumSlice() {
		if script := must(t, "completion", shell); !strings.Contains(script, "recrawld complete -- ") {
			t.Errorf("for %s: %s", shell, script)
		}
	}
}
