package content

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"recrawld/models"
)

// What is no content. A view that keeps next to nothing of the main content of the good one before it, and is much
// shorter, is no edition of the page: it is a loading screen, an error, a log-in form, or another document altogether.
const (
	lostShare   = 0.1 // of the running text that may be left where the content is gone
	tinySize    = 0.1 // of the length that it had, below which nothing more needs to be known
	smallSize   = 0.5 // below which it takes a sign of an error, or another frame
	frameShare  = 0.3 // of the blocks around the content that must be there for the frame to be the page's own
	fewBlocks   = 5   // blocks around the content below which they say nothing of the frame
	enoughRunes = 200 // of main content that a page must have had for its loss to be noticed by its size
)

// overlap is how much of a page another view of it still has.
type overlap struct {
	kept  float64 // share of the main content, by runes
	size  float64 // length of the main content beside what it was
	runes int     // of main content now
	own   bool    // title or frame are the page's own
	frame bool    // the frame is
	bare  bool    // the page had little main content, of which no block is left: its size says nothing
}

// overlapOf compares after with the view of a good visit.
func overlapOf(before, after *View) overlap {
	have := make(map[string]struct{}, len(after.blocks))
	now := 0
	for i := range after.blocks {
		b := &after.blocks[i]
		have[b.Text] = struct{}{}
		if b.Main {
			now += int(b.runes)
		}
	}
	var kept, all, frameKept, frame int
	for i := range before.blocks {
		b := &before.blocks[i]
		_, there := have[b.Text]
		n := 0
		if there {
			n = 1
		}
		switch {
		case b.Text == "":
		case b.Main:
			all += int(b.runes)
			kept += n * int(b.runes)
		default:
			frame++
			frameKept += n
		}
	}
	o := overlap{kept: 1, size: 1, runes: now, own: before.Title == after.Title && after.Title != ""}
	if all >= enoughRunes {
		o.kept, o.size = float64(kept)/float64(all), float64(now)/float64(all)
	}
	o.bare = all > 0 && all < enoughRunes && kept == 0
	if frame >= fewBlocks && float64(frameKept) >= frameShare*float64(frame) {
		o.own, o.frame = true, true
	}
	return o
}

// otherShare is the share of a page's pairs of words below which what came in its place is another document, and not that
// one edited throughout.
const otherShare = 0.25

// other tells whether after is another document than before, of whatever size.
func other(before, after *View) bool {
	have := map[uint64]struct{}{}
	for pair := range after.wordPairs {
		have[pair] = struct{}{}
	}
	all, kept := 0, 0
	for pair := range before.wordPairs {
		all++
		if _, there := have[pair]; there {
			kept++
		}
	}
	return float64(kept) < otherShare*float64(all)
}

// wordPairs yields prints of each two words that follow each other in a block of the main content, and of each four letters of a script that is
// written without spaces: two of them stand in most texts.
func (v *View) wordPairs(yield func(uint64) bool) {
	for i := range v.blocks {
		b := &v.blocks[i]
		if !b.Main {
			continue
		}
		last := [lettersOfPair - 1]string{}
		for word := range eachWord(b.Text) {
			before := last[:1]
			if first, _ := utf8.DecodeRuneInString(word); isJoined(first) {
				before = last[:]
			}
			print := uint64(slotSeed)
			for _, one := range slices.Backward(before) {
				print = hashString(print, one)
			}
			if last[0] != "" && !yield(hashString(print, word)) {
				return
			}
			copy(last[1:], last[:])
			last[0] = word
		}
	}
}

// lettersOfPair is how many letters are about two words.
const lettersOfPair = 4

// saysMore tells whether the main content of after says anything that did not stand on the page before, as its frame did: where no content is
// left, that is taken for it.
func saysMore(before, after *View) bool {
	had := map[string]bool{"": true}
	for i := range before.blocks {
		had[before.blocks[i].Text] = true
	}
	return slices.ContainsFunc(after.blocks, func(b Block) bool { return b.Main && !had[b.Text] })
}

// transient tells whether after is no content of the page, and what it is instead. own tells that a reader still sees
// the page, with nothing or a message in it.
func transient(o *overlap, before, after *View) (class models.ErrorClass, own, is bool) {
	if becameLogin(before, after) {
		return models.LoginWall, false, true
	}
	if o.kept >= lostShare && !o.bare {
		return models.ClassNone, true, false
	}
	signs := signsOf(after)
	switch {
	case o.bare && (signs != models.ClassNone || after.blank() || after.forms > before.forms) && (!o.own || before.watches && !after.watches):
	case o.size < tinySize, o.size < smallSize && (signs != models.ClassNone || !o.own || after.forms > before.forms):
	default:
		return models.ClassNone, true, false
	}
	switch {
	case signs == models.BlockPage:
		return signs, false, true
	case after.forms > before.forms:
		return models.LoginWall, false, true
	case signs != models.ClassNone:
		return signs, o.own, true
	case after.blank(): // it says nothing of being another document
		return models.Shell, true, true
	case o.own:
		return models.Shell, true, true
	}
	return models.ErrorPage, false, true
}

// becameLogin tells whether another document has come that is a log-in form by its title. Of a short page more may be left, of what stands on all pages, and
// the form may say as much as it did.
func becameLogin(before, after *View) bool {
	return after.forms > before.forms && loginTitles.in(after.Title) && !loginTitles.in(before.Title) && other(before, after)
}

// blank tells whether nothing at all is to be read.
func (v *View) blank() bool {
	for i := range v.blocks {
		if b := &v.blocks[i]; b.Text != "" && b.Flags&Hidden == 0 {
			return false
		}
	}
	return true
}

// The words of pages without content, looked for in the title and in what little text there is. A page in a language that is not on the list is
// told by its size and its frame.
var (
	blockWords = said["block words"]
	errorWords = said["error words"]
	leadWords  = []string{"redirect"} // an error as well, but for where a page says so in its own frame, with a link
	goneWords  = said["gone words"]
	shellWords = said["shell words"]
)

// signRunes is the length of the main text up to which words are a sign: a long text may speak of errors.
const signRunes = 2000

// signsOf is what the words of a short page say that it is.
func signsOf(v *View) models.ErrorClass {
	text := v.signText(signRunes)
	switch {
	case containsAny(text, blockWords):
		return models.BlockPage
	case containsAny(text, shellWords):
		return models.Shell
	case containsAny(text, errorWords), containsAny(text, leadWords):
		return models.ErrorPage
	}
	return models.ClassNone
}

// signText is what signs are looked for in: the title, and the main text where it is no longer than that.
func (v *View) signText(most int) string {
	text := v.Text()
	if utf8.RuneCountInString(text) > most {
		text = ""
	}
	return strings.ToLower(v.Title + "\n" + text)
}

// leads tells whether all that looks like an error in an error page is that it names another page, with a link to it: as in a wiki; or leads there.
func (v *View) leads() bool {
	return !containsAny(v.signText(signRunes), errorWords) &&
		(v.LeadsTo != "" || slices.ContainsFunc(v.blocks, func(b Block) bool { return b.Main && len(b.Links) > 0 }))
}

func containsAny(text string, words []string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// shapeOf is what a view looks like, for recognising it again.
func shapeOf(v *View, at int64) shape {
	runes := 0
	for i := range v.blocks {
		if v.blocks[i].Main {
			runes += int(v.blocks[i].runes)
		}
	}
	return shape{title: hashString(slotSeed, masked(v.Title)), text: v.shape(), size: uint32(runes), at: at}
}

// shape is a print of the main text without its digits and without what the address asked for would put there: words
// are taken from blocks that are no longer than a line.
func (v *View) shape() uint64 {
	sum := uint64(0)
	for i := range v.blocks {
		if b := &v.blocks[i]; b.Main && b.Text != "" {
			sum += mix(hashString(slotSeed, masked(b.Text)))
		}
	}
	return mix(sum)
}

// look is a print of the main text without the words that have digits: the numbers of requests, which error pages and
// blocks show, are others each time. Pages that lead elsewhere at once look alike where they lead to one place. Of a body without text
// it is the print of all of it.
func (v *View) look() uint64 {
	if v.Kind.isFile() {
		return v.print
	}
	sum := uint64(slotSeed) // also of a page without text it is not 0
	if v.LeadsTo != "" {
		sum = hashString(sum, v.LeadsTo)
	}
	for i := range v.blocks {
		b := &v.blocks[i]
		if !b.Main || b.Text == "" {
			continue
		}
		block := uint64(slotSeed)
		for word := range strings.FieldsSeq(b.Text) {
			if strings.IndexFunc(word, unicode.IsDigit) < 0 {
				block = hashString(block, word)
			}
		}
		sum += mix(block)
	}
	return mix(sum)
}

// saysGone tells whether a short page says that the page is not to be found.
func saysGone(v *View) bool { return containsAny(v.signText(enoughRunes), goneWords) }

// IsMissing tells whether a view is the host's answer for names that do not exist. Where that answer has no text, as on
// sites that scripts fill in, to have none says nothing: that is a shell.
func (h *HostMemory) IsMissing(v *View) bool { return h.missingLike(v) >= 0 }

// missingLike is the answer for names that do not exist that a view is; -1: none.
func (h *HostMemory) missingLike(v *View) int {
	if len(h.missing) == 0 {
		return -1
	}
	s := shapeOf(v, 0)
	return slices.IndexFunc(h.missing, func(m shape) bool {
		near := 10*s.size >= 8*m.size && 8*s.size <= 10*m.size // within a fifth: the address is often repeated in it
		return m.text == s.text && s.size > 0 || m.title == s.title && near && signsOf(v) == models.ErrorPage
	})
}
