// Package digest puts what happened to pages in some time into a letter for a person: Gather chooses what it tells of, Digest is what it
// says, as a subject, as text of 80 columns and as HTML. All of it is pure.
package digest
