package models

import (
	"math/bits"
	"strings"
)

// Reasons is a set of reasons why a change is what it is, for a person.
type Reasons int32

// The reasons.
const (
	ReasonText       Reasons = 1 << iota // words of the content differ
	ReasonHeading                        // a heading, or its level, differs
	ReasonLinkTarget                     // a link of the content leads elsewhere
	ReasonTitle                          // the page's title differs
	ReasonDateOnly                       // nothing but dates and times differs
	ReasonCounter                        // nothing but numbers differs
	ReasonNav                            // menus, headers, footers and what stands beside the content
	ReasonReorder                        // the same blocks in another order
	ReasonMarkupOnly                     // the same text, cut or marked up otherwise
	ReasonTemplate                       // a region that many pages of the host share, on all of them
	ReasonFlipBack                       // a body that was seen before
	ReasonErrorPage                      // the page turned into an error, a log-in form, a block page or an empty shell, or came back
	ReasonShrunk                         // most of the content went
	ReasonVolatile                       // a place that keeps changing
	ReasonIgnored                        // what the site's settings ignore
	ReasonBytes                          // it has no text to compare: its bytes differ
)

var reasonWords = []string{"text", "heading", "link-target", "title", "date-only", "counter", "nav", "reorder",
	"markup-only", "template", "flip-back", "error-page", "shrunk", "volatile", "ignored", "bytes"}

// Words lists the reasons in the order of their declaration; nil for none.
func (r Reasons) Words() []string {
	var words []string
	for rest := uint32(r); rest != 0; rest &= rest - 1 {
		words = append(words, word(reasonWords, bits.TrailingZeros32(rest)))
	}
	return words
}

// String joins the words with commas; "" for none.
func (r Reasons) String() string { return strings.Join(r.Words(), ", ") }
