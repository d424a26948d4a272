package extract

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

// The first article of the Universal Declaration of Human Rights.
var articles = map[string]string{
	"ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
	"zh": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
	"tw": "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。",
	"ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
	"ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.",
	"uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні діяти у відношенні один до одного в дусі братерства.",
	"bg": "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест и следва да се отнасят помежду си в дух на братство.",
	"el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
	"he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.",
	"ar": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.",
	"th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
	"de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geiste der Brüderlichkeit begegnen. Größe, Äpfel, Öl, überall, müßig, fährt, schön, »so«",
	"fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité. Été, élève, où, là, ça, français, à côté",
	"pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa. Zażółć gęślą jaźń",
	"tr": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.",
}

// TestGuess holds how a page is read that does not say in what encoding it is written.
func TestGuess(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ language, written, read string }{
		{"ja", "shift_jis", "shift_jis"}, {"ja", "euc-jp", "euc-jp"}, {"zh", "gbk", "gb18030"}, {"tw", "big5", "big5"}, {"ko", "euc-kr", "euc-kr"},
		{"ru", "windows-1251", "windows-1251"}, {"ru", "koi8-r", "koi8-u"}, {"ru", "iso-8859-5", "iso-8859-5"}, {"ru", "ibm866", "ibm866"},
		{"uk", "windows-1251", "windows-1251"}, {"uk", "koi8-u", "koi8-u"}, {"bg", "windows-1251", "windows-1251"},
		{"el", "windows-1253", "windows-1253"}, {"he", "windows-1255", "windows-1255"}, {"ar", "windows-1256", "windows-1256"}, {"th", "windows-874", "windows-874"},
		{"de", "windows-1252", "windows-1252"}, {"fr", "windows-1252", "windows-1252"}, {"pl", "iso-8859-2", "windows-1252"}, {"tr", "windows-1254", "windows-1252"},
	} {
		written, _ := charset.Lookup(test.written)
		for _, body := range []string{
			"<html><head><title>Page</title></head><body><p>" + articles[test.language] + "</p></body></html>",
			"<html><body><nav>Home About us</nav><p>" + articles[test.language] + " 2026 OK</p>" + strings.Repeat("<p>"+articles[test.language]+" And so on.</p>", 500),
		} {
			encoded, err := written.NewEncoder().Bytes([]byte(body))
			if err != nil {
				t.Fatalf("%s in %s: %v", test.language, test.written, err)
			}
			text, got := Decode(encoded, "text/html")
			if got != test.read {
				t.Errorf("%s in %s is read in %s, want %s", test.language, test.written, got, test.read)
			} else if want, _ := written.NewDecoder().Bytes(encoded); test.read != "windows-1252" && !bytes.Equal(text, want) {
				t.Errorf("%s in %s is read as %.80q", test.language, test.written, text)
			}
			if _, list := Decode(encoded, "text/csv"); list != test.read {
				t.Errorf("%s in %s is read in %s as a list, want %s", test.language, test.written, list, test.read)
			}
			if _, said := Decode(encoded, "text/html; charset=iso-8859-7"); said != "iso-8859-7" {
				t.Errorf("%s in %s is read in %s, want what its server says", test.language, test.written, said)
			}
		}
	}
}

// TestLittleIsNoGuess holds that a page in Latin letters with some signs stays what browsers take it for.
func TestLittleIsNoGuess(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"quotes":        strings.Repeat("It\x92s \x93here\x94 \x96 and there. ", 50),
		"copyright":     "<p>\xa9 2026\xa0Tools</p>",
		"prices":        strings.Repeat("<td>\x80\xa017,50</td>", 40),
		"degrees":       strings.Repeat("20\xb0C \xb1 3\xb0C\xb7", 30),
		"nothing":       "",
		"a letter each": strings.Repeat("caf\xe9 d\xe9j\xe0 vu ", 40),
		"capitals":      strings.Repeat("\xc9COLE \xc0 C\xd4T\xc9 ", 40),
		"a row of dots": strings.Repeat("Chapter one \xb7\xb7\xb7\xb7\xb7\xb7\xb7\xb7 12\n", 30),
		"odd dots":      strings.Repeat("Chapter one \xb7\xb7\xb7\xb7\xb7\xb7\xb7 12\n", 30),
		"arrows":        strings.Repeat("<a>more \xbb\xbb</a>\n", 30),
		"boxes":         strings.Repeat("\xda\xc4\xc4\xc4\xc4\xc4\xbf\n\xb3 text \xb3\n\xc0\xc4\xc4\xc4\xc4\xc4\xd9\n", 30),
		"lines":         strings.Repeat("\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd\n text \n", 30),
		"shades":        strings.Repeat("\xb0\xb0\xb1\xb1\xb2\xb2\xdb\xdb\xdb\xdb\xb2\xb2\xb1\xb1\xb0\xb0\n", 30),
		"all accents":   "translate('\xe0\xe1\xe2\xe3\xe4\xe5\xe7\xe8\xe9\xea\xeb\xec\xed\xee\xef\xf1\xf2\xf3\xf4\xf5\xf6\xf9\xfa\xfb\xfc\xfd')",
		"all capitals":  "translate('\xc0\xc1\xc2\xc3\xc4\xc5\xc7\xc8\xc9\xca\xcb\xcc\xcd\xce\xcf\xd1\xd2\xd3\xd4\xd5\xd6\xd9\xda\xdb\xdc\xdd')",
	} {
		if _, got := Decode([]byte(body), "text/html"); got != "windows-1252" && name != "nothing" {
			t.Errorf("%s: read in %s", name, got)
		}
	}
}

// TestGuessStays holds that a page is read in one encoding wherever it begins and as long as it may grow: another one makes another text of it, which
// is a change.
func TestGuessStays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, encoding string }{
		{articles["he"], "windows-1255"},
		{"ברוכים הבאים לאתר החדש שלנו. כאן תוכלו למצוא מידע על מוצרים, שירותים ומחירים. לפרטים נוספים ניתן לפנות אלינו בטלפון או בדואר אלקטרוני.", "windows-1255"},
		{"Καλώς ήρθατε στην ιστοσελίδα μας. Εδώ θα βρείτε πληροφορίες για τα προϊόντα, τις υπηρεσίες και τις τιμές μας.", "windows-1253"},
		{articles["th"], "windows-874"}, {articles["ar"], "windows-1256"}, {articles["ru"], "windows-1251"}, {articles["ru"], "ibm866"}, {articles["uk"], "koi8-u"},
		{articles["ja"], "euc-jp"}, {articles["ja"], "shift_jis"}, {articles["ko"], "euc-kr"}, {articles["zh"], "gb18030"}, {articles["tw"], "big5"},
		{"ㅋㅋㅋㅋ 진짜 웃기다 ㅠㅠ 오늘 날씨가 너무 좋아요 ㅎㅎ 저도 그렇게 생각해요", "euc-kr"},
		{"東京都千代田区千代田一丁目一番から 大阪府大阪市北区梅田三丁目です 福岡県福岡市博多区博多駅前まで", "euc-jp"},
		{"東京都千代田区千代田一丁目一番から 大阪府大阪市北区梅田三丁目です 福岡県福岡市博多区博多駅前まで", "shift_jis"},
	} {
		const least = 60 // letters
		written, _ := charset.Lookup(test.encoding)
		runes := []rune(test.text)
		for from := range runes {
			turned := strings.Repeat(string(runes[from:])+string(runes[:from])+" ", 2)
			for length := least; length <= 2*len(runes); length += 7 {
				page, err := written.NewEncoder().Bytes([]byte(string([]rune(turned)[:length])))
				if err != nil {
					t.Fatal(err)
				}
				if _, got := Decode(page, "text/html"); got != test.encoding {
					t.Errorf("%d letters of %s from the %dth on are read in %s: %.60s", length, test.encoding, from, got, turned)
				}
			}
		}
	}
}
