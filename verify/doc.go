// Package verify holds what lies in the archive against what the database says of it: of each version whose body was kept, that its record
// is there, can be read, and holds a body of the version's digest.
//
// Records are read in the order of their places, each once, however many versions share it. The versions come in the order of the
// database, so they are sorted in between: in memory, and where there are many in a temporary file. What takes long is to read and
// unpack; memory does not grow with the number of versions.
//
// A random sample says how much of the whole may be damaged (Interval).
package verify
