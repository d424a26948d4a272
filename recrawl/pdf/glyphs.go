package pdf

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Names of glyphs (Adobe Glyph List For New Fonts): what has another name than itself and is not a letter with an accent.
var glyphs = pairs(`space   exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright ) asterisk * plus +
comma , hyphen - period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal =
greater > question ? at @ bracketleft [ backslash \ bracketright ] asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright }
asciitilde ~ exclamdown ¡ cent ¢ sterling £ currency ¤ yen ¥ brokenbar ¦ section § dieresis ¨ copyright © ordfeminine ª guillemotleft «
logicalnot ¬ registered ® macron ¯ degree ° plusminus ± acute ´ mu µ paragraph ¶ periodcentered · cedilla ¸ ordmasculine º guillemotright »
onequarter ¼ onehalf ½ threequarters ¾ questiondown ¿ AE Æ Eth Ð multiply × Oslash Ø Thorn Þ germandbls ß ae æ eth ð divide ÷ oslash ø thorn þ
dotlessi ı Lslash Ł lslash ł OE Œ oe œ florin ƒ circumflex ˆ caron ˇ breve ˘ dotaccent ˙ ring ˚ ogonek ˛ tilde ˜ hungarumlaut ˝
endash – emdash — quoteleft ‘ quoteright ’ quotesinglbase ‚ quotedblleft “ quotedblright ” quotedblbase „ dagger † daggerdbl ‡ bullet •
ellipsis … perthousand ‰ guilsinglleft ‹ guilsinglright › fraction ⁄ Euro € trademark ™ minus − fi fi fl fl ff ff ffi ffi ffl ffl Dcroat Đ
dcroat đ Hbar Ħ hbar ħ Tbar Ŧ tbar ŧ Eng Ŋ eng ŋ kgreenlandic ĸ arrowright → arrowleft ← arrowup ↑ arrowdown ↓ infinity ∞ lessequal ≤
greaterequal ≥ notequal ≠ summation ∑ product ∏ radical √ integral ∫ partialdiff ∂ approxequal ≈ lozenge ◊ Alpha Α Beta Β Gamma Γ Delta Δ
Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ
Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ sigma σ
sigma1 ς tau τ upsilon υ phi φ chi χ psi ψ omega ω`)

// accents are the ends of names of letters that have one, and how it is written behind a letter.
var accents = pairs("grave \u0300 acute \u0301 circumflex \u0302 tilde \u0303 macron \u0304 breve \u0306 dotaccent \u0307 dieresis \u0308 ring \u030a " +
	"hungarumlaut \u030b caron \u030c commaaccent \u0327 cedilla \u0327 ogonek \u0328")

// pairs reads words that stand before what they mean, each between spaces.
func pairs(list string) map[string]string {
	words := strings.FieldsFunc(strings.Replace(list, "space  ", "space \x00", 1), func(r rune) bool { return r == ' ' || r == '\n' })
	all := make(map[string]string, len(words)/2)
	for i := 0; i+1 < len(words); i += 2 {
		all[words[i]] = strings.ReplaceAll(words[i+1], "\x00", " ")
	}
	return all
}

// glyphText is what a glyph means, by its name; "": nobody knows.
func glyphText(name string) string {
	name, _, _ = strings.Cut(name, ".") // what follows says how it looks
	if text, ok := glyphs[name]; ok {
		return text
	}
	if len(name) == 1 {
		return name
	}
	for _, prefix := range []string{"uni", "u"} {
		if digits, ok := strings.CutPrefix(name, prefix); ok && len(digits) >= 4 {
			if code, err := strconv.ParseUint(digits, 16, 21); err == nil {
				return string(rune(code))
			}
		}
	}
	if len(name) > 1 {
		if accent, ok := accents[name[1:]]; ok {
			return norm.NFC.String(name[:1] + accent)
		}
	}
	return ""
}

// beyond is the second half of the standard encoding (annex D.2) from 0xa1 on; a space: nothing.
var beyond = []rune("¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß")

// standard is what a byte means in the standard encoding.
func standard(code byte) string {
	switch {
	case code == '\'':
		return "’"
	case code == '`':
		return "‘"
	case code >= ' ' && code <= '~':
		return string(rune(code))
	case code >= 0xa1 && int(code)-0xa1 < len(beyond):
		return norm.NFKC.String(strings.TrimSpace(string(beyond[code-0xa1])))
	}
	return ""
}
