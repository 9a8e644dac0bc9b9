package letterpdf

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"

	"github.com/callwright/callwright/porting/loa"
)

// face is one of the two fonts: regular or bold.
type face int

const (
	regular face = iota
	bold
)

// style is the face, size and shade of a text.
type style struct {
	face  face
	size  int // in points
	shade int // 0 is black, 255 white
}

// fonts measures texts and finds characters that cannot be shown. The fonts support Latin, Greek and Cyrillic scripts.
type fonts struct {
	faces    [2]*sfnt.Font
	widths   [2]map[rune]int // in font units, for the characters that both fonts support
	unitsPer int             // font units per em
}

// parseFonts reads the widths of all characters that letters can show. It omits Hebrew and Arabic, because texts are written from left to
// right, and characters above U+FFFF, because fpdf stores a character in two bytes. It also omits control, format and private-use
// characters.
func parseFonts(ttf ...[]byte) (fonts, error) {
	f := fonts{}
	for i, raw := range ttf {
		parsed, err := sfnt.Parse(raw)
		if err != nil {
			return fonts{}, err
		}
		f.faces[i], f.widths[i] = parsed, map[rune]int{}
	}
	f.unitsPer = int(f.faces[0].UnitsPerEm())
	var buffer sfnt.Buffer
	for c := ' '; c <= '\uffff'; c++ {
		if unicode.IsControl(c) || unicode.In(c, unicode.Hebrew, unicode.Arabic, unicode.Co, unicode.Cf) {
			continue
		}
		var widths [2]int
		for i, one := range f.faces {
			glyph, err := one.GlyphIndex(&buffer, c)
			if err != nil || glyph == 0 {
				break
			}
			advance, err := one.GlyphAdvance(&buffer, glyph, fixed.I(f.unitsPer), font.HintingNone)
			if err != nil {
				return fonts{}, err
			}
			widths[i] = advance.Round()
		}
		if widths[regular] > 0 && widths[bold] > 0 {
			f.widths[regular][c], f.widths[bold][c] = widths[regular], widths[bold]
		}
	}
	return f, nil
}

// width returns the width of a text in points, rounded up.
func (f fonts) width(s style, text string) int {
	units := 0
	for _, c := range text {
		units += f.widths[s.face][c]
	}
	return (units*s.size + f.unitsPer - 1) / f.unitsPer
}

// clean returns a text with composed characters (NFC), and with a space for each tab. It keeps line ends. It returns a *loa.CharacterError
// if the fonts cannot show a character.
func (f fonts) clean(text string) (string, error) {
	composed := norm.NFC.String(strings.NewReplacer("\t", " ", "\r\n", "\n").Replace(text))
	for _, c := range composed {
		if c != '\n' && !f.has(c) {
			return "", &loa.CharacterError{Text: text, Char: c}
		}
	}
	return composed, nil
}

func (f fonts) has(c rune) bool { return c != utf8.RuneError && f.widths[regular][c] > 0 }

// printable returns a text with composed characters (NFC), and with a question mark for each character that the fonts cannot show.
func (f fonts) printable(text string) string {
	return strings.Map(func(c rune) rune {
		if f.has(c) {
			return c
		}
		return '?'
	}, norm.NFC.String(text))
}

// cleanText returns a copy of a letter with all texts cleaned, or the first error of clean.
func (f fonts) cleanText(t loa.Text) (loa.Text, error) {
	out := loa.Text{Facts: make([]loa.Fact, len(t.Facts)), Numbers: make([]string, len(t.Numbers)), Paragraphs: make([]string, len(t.Paragraphs))}
	var first error
	clean := func(text string) string {
		text, err := f.clean(text)
		first = cmp.Or(first, err)
		return text
	}
	out.Title = clean(t.Title)
	for i, fact := range t.Facts {
		out.Facts[i] = loa.Fact{Name: clean(fact.Name), Value: clean(fact.Value)}
	}
	for i, number := range t.Numbers {
		out.Numbers[i] = clean(number)
	}
	for i, paragraph := range t.Paragraphs {
		out.Paragraphs[i] = clean(paragraph)
	}
	return out, first
}

// cleanCertificate returns a certificate with all texts cleaned. The user agent causes no error, because printable replaces the characters
// that the fonts cannot show.
func (f fonts) cleanCertificate(c loa.Certificate) (loa.Certificate, error) {
	for _, text := range []*string{&c.Letter, &c.Name, &c.Title, &c.Email, &c.Origin.IP, &c.Disclosure, &c.Trail} {
		clean, err := f.clean(*text)
		if err != nil {
			return loa.Certificate{}, err
		}
		*text = clean
	}
	c.Origin.UserAgent = f.printable(c.Origin.UserAgent)
	return c, nil
}
