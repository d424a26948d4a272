package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// value is one setting inside a Config: how it is read, checked and written.
type value interface {
	read(r *reader, n ast.Node) // sets it from a node, or tells the reader what is wrong with the node and leaves it
	check() error               // whether it keeps its bounds
	String() string             // as it is written in the file
}

// scalar is a value of one word.
type scalar[T any] struct {
	at     *T
	parse  func(string) (T, error)
	format func(T) string
	bound  func(T) error
}

func (s scalar[T]) read(r *reader, n ast.Node) {
	text, ok := r.scalar(n)
	if !ok {
		return
	}
	if v, err := s.convert(text); err != nil {
		r.fail(n, "%w", err)
	} else {
		*s.at = v
	}
}

func (s scalar[T]) convert(text string) (T, error) {
	v, err := s.parse(text)
	if err == nil {
		err = s.bound(v)
	}
	return v, err
}

func (s scalar[T]) check() error   { return s.bound(*s.at) }
func (s scalar[T]) String() string { return quote(s.format(*s.at)) }

// list is a value of many words. A single word in the file is a list of one.
type list[T any] struct {
	at *[]T
	of scalar[T] // without its at
}

func (l list[T]) read(r *reader, n ast.Node) { l.readItems(r, r.list(n)) }

func (l list[T]) readItems(r *reader, items []ast.Node) {
	var all []T
	good := true
	for _, item := range items {
		text, ok := r.scalar(item)
		if !ok {
			good = false
			continue
		}
		v, err := l.of.convert(text)
		if err != nil {
			r.fail(item, "%w", err)
			good = false
		}
		all = append(all, v)
	}
	if good {
		*l.at = all
	}
}

func (l list[T]) check() error {
	for _, v := range *l.at {
		if err := l.of.bound(v); err != nil {
			return err
		}
	}
	return nil
}

func (l list[T]) String() string {
	words := make([]string, len(*l.at))
	for i, v := range *l.at {
		words[i] = quote(l.of.format(v))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// duration reads and writes with a unit; advice is the unit to suggest where none is written, unless only another one
// keeps the bounds.
func duration(at *time.Duration, low, high time.Duration, advice string) scalar[time.Duration] {
	bound := func(d time.Duration) error { return between(d, low, high, FormatDuration) }
	parse := func(text string) (time.Duration, error) {
		if !isNumber(text) {
			return ParseDuration(text)
		}
		for _, unit := range []string{advice, "s", "m", "h", "d"} {
			if d, err := ParseDuration(text + unit); err == nil && bound(d) == nil {
				return parseDuration(text, unit)
			}
		}
		return parseDuration(text, advice)
	}
	return scalar[time.Duration]{at: at, parse: parse, format: FormatDuration, bound: bound}
}

func size(at *int64, low, high int64) scalar[int64] {
	return scalar[int64]{
		at: at, parse: ParseSize, format: FormatSize,
		bound: func(n int64) error { return between(n, low, high, FormatSize) },
	}
}

func count(at *int, low, high int) scalar[int] {
	return scalar[int]{
		at: at, parse: parseCount, format: strconv.Itoa,
		bound: func(n int) error { return between(n, low, high, strconv.Itoa) },
	}
}

// cycles is a count of cycles. Whoever writes a duration is told how many of the default's it is.
func cycles(at *int, low, high int) scalar[int] {
	s := count(at, low, high)
	s.parse = func(text string) (int, error) {
		if d, err := ParseDuration(text); err == nil && d > 0 {
			n := min(max(int(d/defaultCycle), low), high)
			return 0, fmt.Errorf("%s is a duration, and cycles are counted here: of a cycle of %s write %d", shown(text), FormatDuration(defaultCycle), n)
		}
		return parseCount(text)
	}
	return s
}

// parseCount takes "10_000" as well as "10000".
func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number", shown(text))
	}
	return n, nil
}

func percent(at *float64, low, high float64) scalar[float64] {
	return scalar[float64]{
		at: at, parse: parsePercent, format: formatPercent,
		bound: func(v float64) error { return between(v, low, high, formatPercent) },
	}
}

// word is a string that check accepts.
func word(at *string, check func(string) error) scalar[string] {
	return scalar[string]{
		at:     at,
		parse:  func(text string) (string, error) { return text, nil },
		format: func(text string) string { return text },
		bound:  check,
	}
}

// words is a list of strings that check accepts.
func words(at *[]string, check func(string) error) list[string] {
	return list[string]{at: at, of: word(nil, check)}
}

// orOff adds the word off, which is the zero value.
func orOff[T comparable](s scalar[T]) scalar[T] {
	var zero T
	parse, format, bound := s.parse, s.format, s.bound
	s.parse = func(text string) (T, error) {
		if text == "off" {
			return zero, nil
		}
		v, err := parse(text)
		if err == nil && v == zero || text == "0" {
			return zero, fmt.Errorf("%s means nothing here, write off", shown(text))
		}
		return v, err
	}
	s.format = func(v T) string {
		if v == zero {
			return "off"
		}
		return format(v)
	}
	s.bound = func(v T) error {
		if v == zero {
			return nil
		}
		return bound(v)
	}
	return s
}

// between is the rule of every bounded value. It refuses NaN, which compares with nothing.
func between[T cmp.Ordered](v, low, high T, format func(T) string) error {
	if v >= low && v <= high {
		return nil
	}
	if v < low {
		return fmt.Errorf("%s is less than %s", format(v), format(low))
	}
	return fmt.Errorf("%s is more than %s", format(v), format(high))
}

// oneOf accepts the given words.
func oneOf(known ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(known, text) {
			return nil
		}
		if near := nearest(text, known); near != "" {
			return fmt.Errorf("%s is unknown, did you mean %s?", shown(text), near)
		}
		return fmt.Errorf("%s is unknown, write one of %s", shown(text), strings.Join(known, ", "))
	}
}

// present accepts any text but none, and no control characters: the words of a configuration end up in file names,
// headers and logs.
func present(text string) error {
	if text == "" {
		return errors.New("is empty")
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%s has a control character", shown(text))
	}
	return nil
}

// directory is present, and no word that somebody wrote to turn it on or off.
func directory(text string) error {
	switch strings.ToLower(text) {
	case "on", "yes", "true":
		return fmt.Errorf("%s is no directory, leave it out for the usual one or write one like /srv/recrawld", shown(text))
	case "no", "none", "false":
		return fmt.Errorf("%s is no directory, write off for none", shown(text))
	}
	return present(text)
}

// quote writes a word of YAML, plain where that is safe in every place a word can stand.
func quote(text string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+~=:*%@-"
	switch {
	case text == "", text == "~", strings.EqualFold(text, "null"), strings.HasSuffix(text, ":"),
		strings.IndexAny(text, "=:*%-~@") == 0, strings.Trim(text, safe) != "":
		return strconv.Quote(text)
	}
	return text
}
