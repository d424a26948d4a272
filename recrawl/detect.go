package recrawl

import "recrawld/models"

// Copy is what is known of a body, held or just received.
type Copy struct {
	Digest     models.Digest // of the decoded bytes; zero: there is no copy
	TextDigest models.Digest // of the normalised visible text; zero: it has none to speak of
	LinkPrint  int64         // of where its links lead; 0: it has none
}

// Detect compares a body just received with the copy that is held. It is a ladder, each rung cheaper than the next, and
// the first that holds decides:
//
//	no copy is held                               First
//	same bytes                                    SameBytes   a 200 where a 304 would have done
//	other bytes, same visible text, same links    SameText    a new nonce in a script, another CSS file
//	anything else                                 Changed     one word edited, a link led elsewhere, an image replaced
//
// Two bodies without visible text (images, archives, pages of another type) are compared by their bytes alone. A 304
// never comes here: NotModified is the server's own answer. What Detect calls Changed is the most that it can be: package
// content may find that it is Noise, or no content at all.
func Detect(held, received Copy) models.OutcomeKind {
	switch {
	case held.Digest.IsZero():
		return models.First
	case held.Digest == received.Digest:
		return models.SameBytes
	case sameText(held, received) && held.LinkPrint == received.LinkPrint:
		return models.SameText
	}
	return models.Changed
}

func sameText(held, received Copy) bool {
	return !held.TextDigest.IsZero() && held.TextDigest == received.TextDigest
}

// reasonOf says why Detect called a body Changed.
func reasonOf(held, received Copy) models.Reasons {
	switch {
	case held.TextDigest.IsZero() && received.TextDigest.IsZero():
		return models.ReasonBytes
	case sameText(held, received):
		return models.ReasonLinkTarget
	}
	return models.ReasonText
}
