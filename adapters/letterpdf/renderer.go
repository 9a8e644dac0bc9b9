package letterpdf

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"

	"github.com/callwright/callwright/porting/loa"
)

// Renderer renders letters of authorization as PDFs; it implements loa.Renderer. It is safe for concurrent use.
type Renderer struct{ fonts fonts }

var _ loa.Renderer = (*Renderer)(nil)

// New returns a renderer with the embedded Liberation Sans fonts. It returns an error if the fonts cannot be parsed.
func New() (*Renderer, error) {
	f, err := parseFonts(liberationsansregular.TTF, liberationsansbold.TTF)
	if err != nil {
		return nil, fmt.Errorf("letterpdf: %w", err)
	}
	return &Renderer{fonts: f}, nil
}

// RenderLetter returns the PDF of a letter with an empty signature block. It returns a *loa.CharacterError if the fonts cannot show a
// character.
func (r *Renderer) RenderLetter(ctx context.Context, t loa.Text) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := r.fonts.cleanText(t)
	if err != nil {
		return nil, err
	}
	return write(t.Title, undated, r.fonts.letter(t, nil))
}

// RenderSigned returns the PDF of the letter with a filled signature block, followed by the certificate. It returns a *loa.CharacterError
// if the fonts cannot show a character. Only in the user agent, a question mark replaces such a character, because a program wrote that
// text and the audit trail contains it unchanged.
func (r *Renderer) RenderSigned(ctx context.Context, t loa.Text, c loa.Certificate) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := r.fonts.cleanText(t)
	if err != nil {
		return nil, err
	}
	if c, err = r.fonts.cleanCertificate(c); err != nil {
		return nil, err
	}
	return write(t.Title, c.SignedAt, append(r.fonts.letter(t, &c), r.fonts.certificate(t.Title, c)...))
}

// undated is the date in the files of unsigned letters. For a zero date, fpdf would write the current time.
var undated = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// write returns the PDF of the pages. at is the creation and modification date in the file.
func write(title string, at time.Time, pages []page) ([]byte, error) {
	p := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: pageWidth, Ht: pageHeight}})
	p.SetCatalogSort(true)
	p.SetCreationDate(at.UTC())
	p.SetModificationDate(at.UTC())
	p.SetProducer("Callwright", true)
	p.SetTitle(title, true)
	p.SetLang("en")
	p.SetAutoPageBreak(false, 0)
	p.AddUTF8FontFromBytes(family, faceStyles[regular], liberationsansregular.TTF)
	p.AddUTF8FontFromBytes(family, faceStyles[bold], liberationsansbold.TTF)
	for _, one := range pages {
		p.AddPage()
		one.draw(p)
	}
	var b bytes.Buffer
	if err := p.Output(&b); err != nil {
		return nil, fmt.Errorf("letterpdf: %w", err)
	}
	return b.Bytes(), nil
}

const family = "letter"

var faceStyles = map[face]string{regular: "", bold: "B"}

// draw draws a page: areas first, then lines, then texts in their reading order.
func (g page) draw(p *fpdf.Fpdf) {
	for _, a := range g.areas {
		p.SetFillColor(a.shade, a.shade, a.shade)
		p.Rect(float64(a.x), float64(a.y), float64(a.width), float64(a.height), "F")
	}
	for _, l := range g.lines {
		p.SetDrawColor(l.shade, l.shade, l.shade)
		p.SetLineWidth(float64(l.width))
		p.Line(float64(l.x1), float64(l.y), float64(l.x2), float64(l.y))
	}
	for _, m := range g.marks {
		p.SetFont(family, faceStyles[m.face], float64(m.size))
		p.Bookmark(m.text, 0, float64(max(0, m.y-3*m.size)))
	}
	for _, t := range g.texts {
		p.SetFont(family, faceStyles[t.face], float64(t.size))
		p.SetTextColor(t.shade, t.shade, t.shade)
		p.Text(float64(t.x), float64(t.y), t.text)
	}
}
