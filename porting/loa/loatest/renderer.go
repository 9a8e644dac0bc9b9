package loatest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// Pages returns the text of each page of a PDF: the words in reading order, with any white space between them.
type Pages func(t *testing.T, pdf []byte) []string

// RunRenderer tests a loa.Renderer. The Renderer must refuse control characters, characters that change the direction of a text, and code
// points that are not characters; it may refuse others.
func RunRenderer(t *testing.T, r loa.Renderer, pages Pages) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, renderer){
		"gives the same bytes at any time":     rendersAlways,
		"gives the same bytes to many callers": rendersForMany,
		"gives other bytes for another text":   rendersDifferently,
		"shows every text":                     showsLetter,
		"shows what is long":                   showsLong,
		"shows the certificate":                showsCertificate,
		"leaves out what is empty":             rendersEmpty,
		"keeps the pages of the letter":        keepsPages,
		"keeps its arguments":                  keepsArguments,
		"refuses what it cannot show":          refusesUnprintable,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, renderer{r, pages})
		})
	}
}

// renderer wraps the Renderer under test with helpers.
type renderer struct {
	loa.Renderer

	pages Pages
}

// letter returns the PDF of a letter, and fails the test if it cannot be rendered.
func (r renderer) letter(t *testing.T, text loa.Text) []byte {
	t.Helper()
	pdf, err := r.RenderLetter(t.Context(), text)
	if err != nil || len(pdf) == 0 {
		t.Fatalf("a letter gave %d bytes, %v", len(pdf), err)
	}
	return pdf
}

// signed returns the PDF of a signed letter, and fails the test if it cannot be rendered.
func (r renderer) signed(t *testing.T, text loa.Text, c loa.Certificate) []byte {
	t.Helper()
	pdf, err := r.RenderSigned(t.Context(), text, c)
	if err != nil || len(pdf) == 0 {
		t.Fatalf("a signed letter gave %d bytes, %v", len(pdf), err)
	}
	return pdf
}

// aText returns the wording of a letter with the given count of phone numbers.
func aText(numbers int) loa.Text {
	c := loa.Content{
		Request: "port_0197f2a4b0007a1c8d2e5f3a1c9b7d20", Date: at, CustomerType: porting.Business, BusinessName: "Bäckerei Léger & Søn",
		FirstName: "Robin", LastName: "O'Doe-Müller", AccountNumber: "*****8231", Email: "robin@example.com", TargetDate: later(86400), Template: loa.Template,
		Address: porting.Address{Street: "1 Main Street", Street2: "Suite (2)", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
	}
	for i := range numbers {
		c.Numbers = append(c.Numbers, callwright.PhoneNumber(fmt.Sprintf("+1415555%04d", i)))
	}
	return loa.Compose(c)
}

func aCertificate() loa.Certificate {
	return loa.Certificate{
		Letter: strings.Repeat("0123456789abcdef", 4), Name: "Robin O'Doe-Müller", Title: "Owner", Email: "robin@example.com", SignedAt: later(60),
		Origin:     loa.Origin{IP: "2001:db8::7", UserAgent: "Mozilla/5.0 (X11; Linux x86_64) \\ (unbalanced"},
		Disclosure: loa.Disclosure, Trail: strings.Repeat("fedcba9876543210", 4),
	}
}

// rendersAlways checks that the bytes do not depend on the time: it renders again in a synctest bubble, whose clock shows another year.
func rendersAlways(t *testing.T, r renderer) {
	text, c := aText(3), aCertificate()
	letter, signed := r.letter(t, text), r.signed(t, text, c)
	synctest.Test(t, func(t *testing.T) {
		<-time.After(400 * 24 * time.Hour)
		if !bytes.Equal(r.letter(t, text), letter) || !bytes.Equal(r.signed(t, text, c), signed) {
			t.Error("the bytes depend on the time")
		}
	})
}

func rendersForMany(t *testing.T, r renderer) {
	text, c := aText(3), aCertificate()
	letter, signed := r.letter(t, text), r.signed(t, text, c)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			one, err := r.RenderLetter(t.Context(), text)
			other, otherErr := r.RenderSigned(t.Context(), text, c)
			if err := errors.Join(err, otherErr); err != nil || !bytes.Equal(one, letter) || !bytes.Equal(other, signed) {
				t.Errorf("the bytes depend on the caller, %v", err)
			}
		})
	}
	callers.Wait()
}

func rendersDifferently(t *testing.T, r renderer) {
	seen := map[string]string{}
	note := func(name string, pdf []byte) {
		if other, ok := seen[string(pdf)]; ok {
			t.Errorf("%s has the bytes of %s", name, other)
		}
		seen[string(pdf)] = name
	}
	note("a letter", r.letter(t, aText(2)))
	note("another number", r.letter(t, aText(3)))
	for i := range aText(2).Facts {
		text := aText(2)
		text.Facts[i].Value += "x"
		note("another "+text.Facts[i].Name, r.letter(t, text))
	}
	note("a signature", r.signed(t, aText(2), aCertificate()))
	for name, change := range map[string]func(*loa.Certificate){
		"letter": func(c *loa.Certificate) { c.Letter = strings.Repeat("f", 64) }, "name": func(c *loa.Certificate) { c.Name += "x" },
		"title": func(c *loa.Certificate) { c.Title = "" }, "time": func(c *loa.Certificate) { c.SignedAt = later(61) },
		"address": func(c *loa.Certificate) { c.Origin.IP = "" }, "trail": func(c *loa.Certificate) { c.Trail = strings.Repeat("f", 64) },
	} {
		c := aCertificate()
		change(&c)
		note("another "+name, r.signed(t, aText(2), c))
	}
}

// wantWords checks that pages contain every word of texts. A word may be broken across lines.
func wantWords(t *testing.T, pages []string, texts ...string) {
	t.Helper()
	shown := strings.Join(strings.Fields(strings.Join(pages, " ")), "")
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			if !strings.Contains(shown, word) {
				t.Errorf("%q of %q is not shown", word, text)
			}
		}
	}
}

func showsLetter(t *testing.T, r renderer) {
	text := aText(3)
	wantWords(t, r.pages(t, r.letter(t, text)), textsOf(text)...)
}

// showsLong checks a letter with the maximum count of numbers and long facts, and a certificate with a name, a title and a user agent of
// maximum length. Many of the texts contain no space.
func showsLong(t *testing.T, r renderer) {
	text := aText(porting.MaxNumbers)
	for i := range text.Facts {
		text.Facts[i].Value = strings.Repeat("MÜ9", 70)
		if i%2 == 0 {
			text.Facts[i].Value = strings.Repeat("many words ", 50)
		}
	}
	pages := r.pages(t, r.letter(t, text))
	wantWords(t, pages, textsOf(text)...)
	c := aCertificate()
	c.Name, c.Title, c.Email = strings.Repeat("Wü", loa.MaxName/2), strings.Repeat("W", loa.MaxTitle), strings.Repeat("w", 242)+"@example.com"
	c.Origin.UserAgent = strings.Repeat("W", loa.MaxUserAgent)
	signed := r.pages(t, r.signed(t, text, c))
	wantWords(t, signed[len(pages):], textsOfCertificate(c)...)
}

func showsCertificate(t *testing.T, r renderer) {
	text, c := aText(3), aCertificate()
	letter, signed := r.pages(t, r.letter(t, text)), r.pages(t, r.signed(t, text, c))
	if len(signed) <= len(letter) {
		t.Fatalf("the signed letter has %d pages, and the letter %d", len(signed), len(letter))
	}
	certificate := signed[len(letter):]
	wantWords(t, certificate, textsOfCertificate(c)...)
	wantWords(t, certificate, c.SignedAt.Format("2006"), c.SignedAt.Format("15:04:05"))
}

func rendersEmpty(t *testing.T, r renderer) {
	r.letter(t, loa.Text{})
	r.letter(t, loa.Text{Facts: []loa.Fact{{}}, Numbers: []string{""}, Paragraphs: []string{""}})
	c := aCertificate()
	c.Title, c.Origin = "", loa.Origin{}
	r.signed(t, aText(1), c)
}

// keepsPages checks that a signed letter begins with the pages of the letter. The last of these pages may differ in the signature block.
func keepsPages(t *testing.T, r renderer) {
	for _, numbers := range []int{1, porting.MaxNumbers} {
		text := aText(numbers)
		letter, signed := r.pages(t, r.letter(t, text)), r.pages(t, r.signed(t, text, aCertificate()))
		last := len(letter) - 1
		if len(signed) <= len(letter) || !slices.Equal(signed[:last], letter[:last]) {
			t.Fatalf("with %d numbers, the signed letter does not begin with the pages of the letter", numbers)
		}
		wantWords(t, signed[:len(letter)], textsOf(text)...)
	}
}

func keepsArguments(t *testing.T, r renderer) {
	text := aText(3)
	r.letter(t, text)
	r.signed(t, text, aCertificate())
	if want := aText(3); !slices.Equal(textsOf(text), textsOf(want)) {
		t.Errorf("the text has become %+v", text)
	}
}

// refusesUnprintable checks that an unprintable character is refused in every kind of text of a letter, and in the signer's name and title.
// A renderer may replace such characters in the user agent, because no person has written them.
func refusesUnprintable(t *testing.T, r renderer) {
	for _, c := range []rune{'\x00', '\x07', '\x7f', '\u202e', '\u2067', '\ufffe', unicode.MaxRune} {
		bad := "x" + string(c) + "y"
		for name, change := range map[string]func(*loa.Text){
			"title": func(t *loa.Text) { t.Title = bad }, "name": func(t *loa.Text) { t.Facts[1].Name = bad },
			"value": func(t *loa.Text) { t.Facts[1].Value = bad }, "number": func(t *loa.Text) { t.Numbers[1] = bad },
			"paragraph": func(t *loa.Text) { t.Paragraphs[1] = bad },
		} {
			text := aText(3)
			change(&text)
			_, err := r.RenderLetter(t.Context(), text)
			wantNamed(t, name, bad, c, err)
			_, err = r.RenderSigned(t.Context(), text, aCertificate())
			wantNamed(t, name+" of a signed letter", bad, c, err)
		}
		for name, change := range map[string]func(*loa.Certificate){
			"name": func(c *loa.Certificate) { c.Name = bad }, "title": func(c *loa.Certificate) { c.Title = bad },
		} {
			certificate := aCertificate()
			change(&certificate)
			_, err := r.RenderSigned(t.Context(), aText(3), certificate)
			wantNamed(t, name+" of a certificate", bad, c, err)
		}
	}
}

// wantNamed checks that an error is a *loa.CharacterError with a character and its text.
func wantNamed(t *testing.T, name, text string, c rune, err error) {
	t.Helper()
	e, ok := errors.AsType[*loa.CharacterError](err)
	if !ok || e.Char != c || e.Text != text || !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("%+q in a %s gave %v, want a *loa.CharacterError with the character and the text", c, name, err)
	}
}

var at = time.Date(2026, 3, 2, 9, 8, 7, 123456000, time.UTC)

func later(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }
