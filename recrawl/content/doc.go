// Package content says what counts as a change.
//
// Read turns a body into a View: its blocks of text in order, with the links in them, where each stands and whether it
// belongs to the main content. Judge compares two Views of one page and says whether the difference is noise, a change,
// or no content at all (an error page, a log-in form, a loading screen), with reasons and a significance from 0 to 1.
// What it learns of a page (places that keep changing) and of a host (regions that many pages share) it keeps in two
// memories that the caller stores.
//
// The package is pure: it asks no clock, no network and no disk, and it fails at nothing. Time and memory are bounded by
// the bytes of the two bodies, whatever they hold.
package content
