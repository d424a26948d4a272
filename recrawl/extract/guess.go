package extract

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// Bounds of a guess.
const (
	guessFrom  = 64 << 10 // bytes that are looked at, from the first on that is no ASCII
	guessLeast = 12       // of those, bytes that are no ASCII: a few quotes and copyright signs say nothing
	leastPairs = 4        // characters of two bytes, but for signs
	mayBeBad   = 0.02     // share of characters that an encoding may not have: mistakes, and where the text was cut
)

// guessed is the encoding of a body that names none and is no UTF-8, by what is written in it; nil: as good as any is windows-1252, as browsers take
// it. It tells those of Japanese, Chinese and Korean, which are two bytes a character, and those of Cyrillic, Greek, Hebrew, Arabic and
// Thai letters. Those of Latin letters differ in few of them, and a page shall not be read in another one for a name more. It is the same
// for the same bytes, since another one makes all of a text another.
func guessed(body []byte) (encoding.Encoding, string) {
	at := bytes.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf })
	if at < 0 {
		return nil, ""
	}
	sample := body[at:min(len(body), at+guessFrom)]
	high := 0
	for _, c := range sample {
		if c >= utf8.RuneSelf {
			high++
		}
	}
	if high < guessLeast {
		return nil, ""
	}
	name := lettersEncoding(sample, high)
	if name == "" {
		name = syllables(sample)
	}
	if name == "" {
		name = chinese(sample)
	}
	if name == "" {
		return nil, ""
	}
	return charset.Lookup(name)
}

// pairs is what a text is made of, read in an encoding of two bytes a character.
type pairs struct {
	all, bad int
	kana     int // of all, Japanese syllables
	hangul   int // Korean ones
	jamo     int // the letters that these are made of, which stand alone for laughter and tears
	level    int // the Chinese characters in common use, which come first in their encoding
	low      int // those with a second byte below those of EUC
}

func (p pairs) share(n int) float64 { return float64(n) / float64(max(p.all, 1)) }

// sound tells whether the text can be read so.
func (p pairs) sound() bool { return p.all >= leastPairs && p.share(p.bad) <= mayBeBad }

// How much of a text is syllables at least. Chinese has next to no kana, but Japanese that lists names and places has few: what such a list has
// more or less must not make another text of it. Of Japanese that has few of them a fifth is no Hangul where it is read so, of Korean nothing is.
const (
	someKana   = 0.03
	muchKana   = 0.15 // Korean has less, of letters that stand alone
	allHangul  = 0.95
	mostHangul = 0.85 // with Chinese characters among it
)

// syllables is the encoding in which a text is sound and has the syllables of Japanese or Korean; "": none.
func syllables(text []byte) string {
	if p := readPairs(text, sjisPair); p.sound() && p.share(p.kana) >= someKana {
		return "shift_jis"
	}
	japanese, korean := readPairs(text, eucPair), readPairs(text, koreanPair)
	kana, hangul := japanese.share(japanese.kana), float64(korean.hangul)/float64(max(korean.all-korean.jamo, 1))
	switch {
	case korean.sound() && hangul >= allHangul && kana < muchKana:
		return "euc-kr"
	case japanese.sound() && kana >= someKana:
		return "euc-jp"
	case korean.sound() && hangul >= mostHangul:
		return "euc-kr"
	}
	return ""
}

// chinese is the encoding in which a text is sound and has the characters in common use; "": none. Of Big5 two in five have a low second byte. In Latin
// script nearly all have, which are the letters behind those that are no ASCII.
func chinese(text []byte) string {
	if p := readPairs(text, big5Pair); p.sound() && p.share(p.level) >= 0.6 && p.share(p.low) >= 0.15 && p.share(p.low) <= 0.7 {
		return "big5"
	}
	if p := readPairs(text, gbkPair); p.sound() && p.share(p.level) >= 0.6 && p.share(p.low) < 0.15 {
		return "gb18030"
	}
	return ""
}

// readPairs reads a text by a function that takes one character off it: how many bytes it has, 0 where it is none. Two bytes that are the same
// say nothing, nor does one behind the other: so are rows of dots and lines, », twice, and lists of all letters with accents.
func readPairs(text []byte, take func(p *pairs, lead, trail byte) int) (p pairs) {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		if i+1 == len(text) {
			break
		}
		if text[i+1] == text[i] || text[i+1] == text[i]+1 {
			i += 2
			continue
		}
		p.all++
		n := take(&p, text[i], text[i+1])
		if n == 0 {
			p.bad++
		}
		i += max(n, 1)
	}
	return p
}

func between(c, from, to byte) bool { return from <= c && c <= to }

// sjisPair takes a character of Shift_JIS: the rows 4 and 5 of JIS X 0208, which are the syllables, begin with 0x82 and 0x83.
func sjisPair(p *pairs, lead, trail byte) int {
	switch {
	case between(lead, 0xA1, 0xDF): // a syllable of half the width
		return 1
	case (between(lead, 0x81, 0x9F) || between(lead, 0xE0, 0xFC)) && between(trail, 0x40, 0xFC) && trail != 0x7F:
		if lead == 0x82 && between(trail, 0x9F, 0xF1) || lead == 0x83 && between(trail, 0x40, 0x96) {
			p.kana++
		}
		return 2
	}
	return 0
}

// eucPair takes one of EUC-JP.
func eucPair(p *pairs, lead, trail byte) int {
	switch {
	case lead == 0x8E && between(trail, 0xA1, 0xDF):
		return 2
	case between(lead, 0xA1, 0xFE) && between(trail, 0xA1, 0xFE):
		if (lead == 0xA4 || lead == 0xA5) && !isLaughter(trail) {
			p.kana++
		}
		return 2
	}
	return 0
}

// isLaughter tells the second byte of the letters that Korean laughs and cries with in EUC-KR, which would be syllables that Japanese has few of.
func isLaughter(trail byte) bool {
	return trail == 0xBB || trail == 0xBE || trail == 0xCC || trail == 0xD0 || trail == 0xD1
}

// gbkPair takes one of GBK, the part of GB 18030 that is in use: the rows 16 to 55 of GB 2312 are the characters in common use, 1 and 3 signs.
func gbkPair(p *pairs, lead, trail byte) int {
	if !between(lead, 0x81, 0xFE) || !between(trail, 0x40, 0xFE) || trail == 0x7F {
		return 0
	}
	if trail < 0xA1 {
		p.low++
	} else if between(lead, 0xB0, 0xD7) || lead == 0xA1 || lead == 0xA3 {
		p.level++
	}
	return 2
}

// big5Pair takes one of Big5: the characters in common use begin with 0xA4 to 0xC6, signs with less.
func big5Pair(p *pairs, lead, trail byte) int {
	if !between(lead, 0x81, 0xFE) || !between(trail, 0x40, 0x7E) && !between(trail, 0xA1, 0xFE) {
		return 0
	}
	if trail < 0xA1 {
		p.low++
	}
	if between(lead, 0xA1, 0xC6) {
		p.level++
	}
	return 2
}

// koreanPair takes one of EUC-KR: the rows 16 to 40 of KS X 1001 are the syllables.
func koreanPair(p *pairs, lead, trail byte) int {
	if !between(lead, 0xA1, 0xFE) || !between(trail, 0xA1, 0xFE) {
		return 0
	}
	if between(lead, 0xB0, 0xC8) {
		p.hangul++
	} else if lead == 0xA1 {
		p.all-- // a sign
	} else if lead == 0xA4 {
		p.jamo++
	}
	return 2
}

// alphabet is an encoding of one byte a letter, and the letters that are most of any text in it.
type alphabet struct {
	name   string
	common string
	letter [utf8.RuneSelf]letterKind // by the byte, from 0x80 on
}

type letterKind uint8

// A letter may be several of these; 0: it is none.
const (
	isLetter letterKind = 1 << iota
	isCommon
	isCapital
)

// cyrillic are the letters that are most of a text in the languages that are written with them.
const cyrillic = "оеаинтсрвлкмдпуі"

// alphabets are the encodings of letters that are not Latin. Common are the letters that make 70 to 80 in 100 of running text.
var alphabets = func() []*alphabet {
	all := []*alphabet{
		{name: "windows-1251", common: cyrillic}, {name: "koi8-u", common: cyrillic}, {name: "iso-8859-5", common: cyrillic}, {name: "ibm866", common: cyrillic},
		{name: "windows-1253", common: "αοιετσνηυρπκόήίά"}, {name: "windows-1255", common: "יוהלארתבמנשם"},
		{name: "windows-1256", common: "المينروتبع"}, {name: "windows-874", common: "านรอกเงมยลวดทสตหัะ่้ิี"},
	}
	for _, a := range all {
		enc, _ := charset.Lookup(a.name)
		decoder := enc.NewDecoder()
		for i := range a.letter {
			text, err := decoder.Bytes([]byte{byte(i + utf8.RuneSelf)})
			r, _ := utf8.DecodeRune(text)
			if err != nil || !isLetterOf(a.name, r) {
				continue
			}
			a.letter[i] = isLetter
			if strings.ContainsRune(a.common, unicode.ToLower(r)) {
				a.letter[i] |= isCommon
			}
			if unicode.IsUpper(r) {
				a.letter[i] |= isCapital
			}
		}
	}
	return all
}()

// isLetterOf tells whether a rune is of the script that an encoding is for.
func isLetterOf(name string, r rune) bool {
	switch name {
	case "windows-1253":
		return r >= 0x370 && r < 0x400
	case "windows-1255":
		return r >= 0x590 && r < 0x600
	case "windows-1256":
		return r >= 0x600 && r < 0x700
	case "windows-874":
		return r >= 0xE00 && r < 0xE80
	}
	return r >= 0x400 && r < 0x530
}

// How much of what is no ASCII must be letters of an alphabet in words, and how much of these common ones: of a list of all letters half are. Wrong
// encodings of a text have next to it half as many, but for those of capitals.
const (
	inWords    = 0.7
	areCommon  = 0.6
	wordLength = 3   // from which on a run of letters is a word: in Latin script letters that are no ASCII stand alone
	capitals   = 0.8 // what a common capital counts: what is all capitals is as likely small letters in another encoding
)

// lettersEncoding is the alphabet of which a text, with so many bytes that are no ASCII, has the largest share of common letters; "": none has enough.
func lettersEncoding(text []byte, high int) string {
	name, most := "", areCommon
	for _, a := range alphabets {
		words, common := a.read(text)
		if share := common / float64(max(words, 1)); float64(words) >= inWords*float64(high) && share > most {
			name, most = a.name, share
		}
	}
	return name
}

// read counts the letters in words, and the common ones of words that are small, capitals, or begin with one: "пРИВЕТ" was written in another encoding.
func (a *alphabet) read(text []byte) (words int, common float64) {
	for len(text) > 0 {
		n := 0
		for n < len(text) && a.kind(text[n])&isLetter != 0 {
			n++
		}
		if n >= wordLength {
			words += n
			common += a.commonIn(text[:n])
		}
		text = text[max(n, 1):]
	}
	return words, common
}

func (a *alphabet) kind(c byte) letterKind {
	if c < utf8.RuneSelf {
		return 0
	}
	return a.letter[c-utf8.RuneSelf]
}

// commonIn is what the common letters of a word count.
func (a *alphabet) commonIn(word []byte) float64 {
	all, common, large := 0, 0, 0
	for i, c := range word {
		if i > 1 && c == word[i-1] && c == word[i-2] {
			return 0
		}
		kind := a.kind(c)
		if kind&isCapital != 0 {
			large++
			if i > 0 && large <= i {
				return 0
			}
		}
		if kind&isCommon != 0 {
			common++
		}
		all++
	}
	if large > 1 && large < all {
		return 0
	}
	if large == all {
		return capitals * float64(common)
	}
	return float64(common)
}
