// Package diff shows a person what differs between two versions of a page.
//
// Compare goes from what a reader sees to what nobody sees: the main content by lines and by words, what stands beside
// it, then link targets, images, attributes, scripts, the answer's header, and at last the bytes. Two versions whose
// bodies differ always give something to show. The result is a plain value; Text, Unified, HTML and its JSON form show
// it.
//
// The package is pure. Its time is bounded by n log n of the bytes of the two bodies, of which it reads at most MostBytes
// each, and it says so where it stopped.
package diff
