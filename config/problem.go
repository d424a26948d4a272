package config

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	File string // as it was given to Load or Parse; empty: not from a file
	Line int    // from 1; 0: nowhere in particular
	Text string // names the key and says what to write instead

	Secret bool // what is wrong may be this process: it cannot read a secret that the file names
}

// String is "recrawld.yaml:14: cycle: 6 has no unit, write 6h".
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Text
	case p.Line == 0:
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Problems is the error of Load, Parse, WithSites, Set and Validate: all that is wrong, for a file in the order of its
// lines.
type Problems []Problem

// mostProblems is how many problems a message lists. A file of the wrong kind has one on every line.
const mostProblems = 20

// Error lists the first twenty problems, one to a line, and counts the rest.
func (p Problems) Error() string {
	lines := make([]string, 0, min(len(p), mostProblems)+1)
	for _, problem := range p[:min(len(p), mostProblems)] {
		lines = append(lines, problem.String())
	}
	if more := len(p) - mostProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// OfSecrets tells whether nothing is wrong but that this process cannot read secrets, which another may.
func (p Problems) OfSecrets() bool {
	return len(p) > 0 && !slices.ContainsFunc(p, func(problem Problem) bool { return !problem.Secret })
}

// err is p as an error, nil where there is nothing wrong.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// nearest is the candidate that differs from key by the fewest typing slips, "" where none is near enough to be meant.
func nearest(key string, candidates []string) string {
	best, least := "", max(1, min(3, len(key)/2))+1
	for _, c := range candidates {
		if d := slips(strings.ToLower(key), c); d < least {
			best, least = c, d
		}
	}
	return best
}

// slips is how many typing slips lie between two keys: bytes wrong, missing, too many or swapped with the next (the
// optimal string alignment distance). "-" passes for "_". Long keys are not compared: they come from files that are not
// ours, and the time grows with the product of the lengths.
func slips(a, b string) int {
	const longest = 64
	if len(a) > longest || len(b) > longest {
		return len(a) + len(b)
	}
	a = strings.ReplaceAll(a, "-", "_")
	var d [longest + 1][longest + 1]int
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			d[i][j] = min(d[i-1][j], d[i][j-1]) + 1
			if a[i-1] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-1][j-1])
			} else {
				d[i][j] = min(d[i][j], d[i-1][j-1]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
