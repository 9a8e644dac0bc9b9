package loatest

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/callwright/callwright/porting/loa"
)

// Plain is a loa.Renderer for tests. It renders texts in Latin letters as plain text, with a form feed between pages. It returns a
// *loa.CharacterError for most other letters and for control characters.
type Plain struct{}

var _ loa.Renderer = Plain{}

// RenderLetter returns the texts of a letter, one a line, as a single page.
func (Plain) RenderLetter(_ context.Context, t loa.Text) ([]byte, error) {
	return plainText("", textsOf(t))
}

// RenderSigned returns the page of RenderLetter, and a second page with the certificate.
func (p Plain) RenderSigned(ctx context.Context, t loa.Text, c loa.Certificate) ([]byte, error) {
	letter, err := p.RenderLetter(ctx, t)
	if err != nil {
		return nil, err
	}
	page, err := plainText("\fCertificate", append(textsOfCertificate(c), c.SignedAt.UTC().Format(time.RFC3339Nano)))
	return append(letter, page...), err
}

func plainText(title string, texts []string) ([]byte, error) {
	for _, text := range texts {
		for _, c := range text {
			if c > unicode.MaxLatin1 && !unicode.Is(unicode.Latin, c) && !unicode.IsPunct(c) || !unicode.IsPrint(c) && !unicode.IsSpace(c) {
				return nil, &loa.CharacterError{Text: text, Char: c}
			}
		}
	}
	return []byte(title + strings.Join(texts, "\n") + "\n"), nil
}

// Pages splits the output of RenderLetter or RenderSigned into its pages.
func (Plain) Pages(_ *testing.T, pdf []byte) []string { return strings.Split(string(pdf), "\f") }

// textsOf returns all texts that the PDF of a letter must show.
func textsOf(t loa.Text) []string {
	texts := []string{t.Title}
	for _, f := range t.Facts {
		texts = append(texts, f.Name, f.Value)
	}
	return append(append(texts, t.Numbers...), t.Paragraphs...)
}

// textsOfCertificate returns all texts that the page of a certificate must show.
func textsOfCertificate(c loa.Certificate) []string {
	return []string{c.Letter, c.Name, c.Title, c.Email, c.Origin.IP, c.Origin.UserAgent, c.Disclosure, c.Trail}
}
