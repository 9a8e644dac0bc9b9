package letterpdf

import (
	"fmt"

	"github.com/callwright/callwright/porting/loa"
)

// stamp is the layout of dates and times in a letter, for time.Format.
const stamp = "2 January 2006, 15:04:05 UTC"

// letter returns the pages of a letter, unsigned if signed is nil. The signature does not change the layout of the pages.
func (f fonts) letter(t loa.Text, signed *loa.Certificate) []page {
	s := newSheet(f, t.Title)
	s.title(t.Title)
	for _, fact := range t.Facts {
		s.fact(fact.Name, fact.Value, 10)
	}
	if len(t.Numbers) > 0 {
		s.heading(fmt.Sprintf("Telephone numbers (%d)", len(t.Numbers)), 34)
		s.columns("Telephone numbers", t.Numbers)
	}
	if len(t.Paragraphs) > 0 {
		s.heading("Authorization", 30)
		for _, paragraph := range t.Paragraphs {
			s.paragraph(paragraph, 9)
		}
	}
	s.signature(signed)
	return s.writeFooters(t.Title)
}

// signature writes the signature block, on one page. If signed is nil, the fields remain empty.
func (s *sheet) signature(signed *loa.Certificate) {
	const height, inset, row = 98, 14, 21
	s.heading("Signature", height)
	s.page().areas = append(s.page().areas, area{left, s.y, right - left, height, pale})
	head := style{bold, 10, gray}
	what, name, title, date := "To be signed electronically", "", "", ""
	if signed != nil {
		what, name, title, date = "Signed electronically", signed.Name, signed.Title, signed.SignedAt.UTC().Format(stamp)
		head.shade = black
	}
	s.write(head, left+inset, s.y+22, what)
	y := s.y + 22
	for _, field := range []struct {
		label, value string
		as           style
	}{{"Name", name, style{bold, 13, black}}, {"Title", title, style{regular, 10, black}}, {"Date", date, style{regular, 10, black}}} {
		const valueX = left + inset + 60
		y += row
		s.write(style{regular, 9, gray}, left+inset, y, field.label)
		s.write(field.as, valueX, y, s.fonts.fit(field.as, field.value, right-inset-valueX))
		s.page().lines = append(s.page().lines, line{valueX, right - inset, y + 5, 1, 170})
	}
	s.y += height
}

// certificate returns the pages of the certificate for a letter with this title.
func (f fonts) certificate(title string, c loa.Certificate) []page {
	s := newSheet(f, "Certificate of signature")
	s.title("Certificate of signature")
	s.y += 4
	s.paragraph("This page belongs to the letter before it. It records how the letter was signed electronically.", 10)
	for _, fact := range []loa.Fact{
		{Name: "Letter", Value: title},
		{Name: "SHA-256 of the letter", Value: c.Letter},
		{Name: "Signed by", Value: c.Name},
		{Name: "Title", Value: c.Title},
		{Name: "E-mail of the link", Value: c.Email},
		{Name: "Signed at", Value: c.SignedAt.UTC().Format(stamp)},
		{Name: "IP address", Value: c.Origin.IP},
		{Name: "Browser", Value: c.Origin.UserAgent},
		{Name: "SHA-256 of the audit trail", Value: c.Trail},
	} {
		if fact.Value != "" {
			s.fact(fact.Name, fact.Value, 9)
		}
	}
	s.heading("Text consented to", 30)
	s.paragraph(c.Disclosure, 10)
	s.heading("How to check this letter", 30)
	s.paragraph("The SHA-256 of the letter is that of the PDF file which the signer read, before the signature was added to it. "+
		"The audit trail is a list of all that happened to the letter, each entry with the hash of the one before: "+
		"the hash above is that of the entry which records this signature.", 9)
	return s.writeFooters("Certificate of signature: " + title)
}
