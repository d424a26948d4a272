// Package report turns what the store knows into documents: tables for a person, CSV and JSON for a program. Each
// report is one file and one line in Reports; the command line and the web page list what is there.
//
// A report reads through a few streaming queries of models.Store and keeps sums only, so that its memory does not grow
// with the number of pages. The arithmetic is pure and takes `now` as an argument.
package report
