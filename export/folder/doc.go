// Package folder writes page versions as a folder that opens in a browser from disk, without a server: a file a page, with references that
// lead from file to file.
//
// # Two passes
//
//	Add       pages ─────────► sorted by the name that each wishes for: who shares one with another gets one of its own
//	          names ─────────► sorted by a hash of the URL, in a file that is asked where each reference leads
//	Write     bodies ────────► in the order of the archive, each rewritten and written
//	          list, page to begin with
//
// Neither holds all names in memory. Where a body turns out to be lost, the links to its file would lead nowhere: the second pass is made
// again without it.
//
// # What is rewritten
//
// References in HTML, XHTML, SVG and CSS, not those in scripts. One to a page in the folder leads to its file, one to a page that redirects
// to the file of what it leads to, any other to the web. The rest of a body stays byte for byte, in its own encoding, but for what would
// keep it from being shown: base elements, hashes and requests for permission on what is in the folder, policies that forbid to load it,
// and the encoding where only the header said it.
//
// # Whole or not there
//
// The folder is made under another name beside its own, synced, and renamed. One that is there changes places with it at once, where the
// system can do that. What has not changed since is the same file in both. No symbolic link is followed in either.
package folder
