package recrawl

import "recrawld/models"

// Copy is what is known of a body, held or just received.
type Copy struct {
	Digest     models.Digest // of the decoded bytes; zero: there is no copy
	TextDigest models.Digest // of the normalised visible text; zero: it has none to speak of
}

// Detect compares a body just received with the copy that is held. It is a ladder, each rung cheaper than the next, and
// the first that holds decides:
//
//	no copy is held                          First
//	same bytes                               SameBytes   a 200 where a 304 would have done
//	other bytes, same visible text           SameText    a new nonce in a script, another CSS file
//	both have no visible text, or it differs Changed     one word edited, an image replaced
//
// Two bodies without visible text (images, archives, pages of another type) are compared by their bytes alone. A 304
// never comes here: NotModified is the server's own answer.
func Detect(held, received Copy) models.OutcomeKind {
	switch {
	case held.Digest.IsZero():
		return models.First
	case held.Digest == received.Digest:
		return models.SameBytes
	case !held.TextDigest.IsZero() && held.TextDigest == received.TextDigest:
		return models.SameText
	}
	return models.Changed
}
