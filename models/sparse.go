package models

import (
	"regexp"
	"strings"
)

// Most columns of most pages are zero, and on PostgreSQL a zero takes as much room as any number, while NULL takes a bit:
// 100 bytes of a row of 400. So there some columns are NULL where they are zero. Whoever writes them may write either;
// whoever reads them does so by table.read, to which NULL is zero, or says COALESCE. On SQLite, where a zero takes no room, they are
// never NULL.

// sparse is the columns that are NULL where they are zero, by table.
var sparse = map[string]map[string]bool{
	"pages": set("note wanted changes bits first_at changed_at tried_at failures class missing_since missing_visits " +
		"fresh_until redirect_to chain bytes duplicate_of no_archive children full_at threshold skips evidence_changes " +
		"evidence_days byte_changes bytes_at link_print canonical entries importance told_at lost announced_at requisite unnamed_at named_at"),
}

func set(names string) map[string]bool {
	found := make(map[string]bool)
	for _, name := range strings.Fields(names) {
		found[name] = true
	}
	return found
}

// zero is what a column of a kind holds where there is nothing, in a statement.
func (k kind) zero() string {
	switch k {
	case kindText:
		return "''"
	case kindBool:
		return "false"
	case kindBlob:
		return "NULL"
	}
	return "0"
}

// orZero is how a column that may be NULL for zero is read. The dialect of SQLite knows it by its form and leaves it out.
func orZero(column string, k kind) string { return "COALESCE(" + column + "," + k.zero() + ")" }

// zeroForms is the form of orZero, which no other statement has: they put a space behind the comma.
var zeroForms = regexp.MustCompile(`COALESCE\(([a-z_.]+),(?:0|''|false)\)`)

// sparing is the values of the columns of a source v, with NULL for zero where the table has that.
func (tb table[T]) sparing() []string {
	names := strings.Fields(tb.columns)
	fields := tb.fields(new(T))
	for i, name := range names {
		names[i] = "v." + name
		if sparse[tb.name][name] {
			names[i] = "NULLIF(v." + name + ", " + kindOf(fields[i]).zero() + ")"
		}
	}
	return names
}
