// Package sitefarm serves made-up sites on loopback for measuring what visits cost: any number of hosts, each at a
// loopback address of its own and so with a queue of its own, each a tree of pages with links, text, validators and a
// share of changes. What a page says is a function of its place and its version, so a farm of ten million pages takes
// four bytes a page.
//
// Nothing in it is of use to a running daemon.
package sitefarm
