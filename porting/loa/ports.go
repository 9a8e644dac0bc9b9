package loa

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Store stores letters with their PDFs and audit trails. loatest.RunStore tests one.
//
// Returned values share no memory with stored ones. Another organization's letter is absent. Contents, PDFs and events are encrypted at
// rest.
type Store interface {
	// InsertLetter adds a letter with Revision 1, its PDF and its first events. CodeConflict: the request has a letter.
	InsertLetter(ctx context.Context, l Letter, pdf []byte, events ...Event) error
	// Letter returns the letter of a request. CodeNotFound: it is absent.
	Letter(ctx context.Context, org callwright.OrgID, request string) (Letter, error)
	// LetterByLink returns the letter of any organization with this LinkHash. CodeNotFound: there is none.
	LetterByLink(ctx context.Context, hash string) (Letter, error)
	// UpdateLetter replaces a letter whose stored Revision is l.Revision, adds one to that, appends events to its audit trail, and keeps
	// a signed PDF, if there is one. CodeConflict: the Revision differs; of concurrent calls with the same one exactly one
	// succeeds. CodeNotFound: it is absent.
	UpdateLetter(ctx context.Context, l Letter, signed []byte, events ...Event) error
	// PDF returns the bytes of a letter as it was made, or as it was signed. CodeNotFound: there are none.
	PDF(ctx context.Context, org callwright.OrgID, request string, signed bool) ([]byte, error)
	// Events returns the audit trail of a letter in its order; that of an absent one is empty.
	Events(ctx context.Context, org callwright.OrgID, request string) ([]Event, error)
	// DueLetters names letters of all organizations whose DueAt is set and not after a time, the longest due first, at most limit.
	DueLetters(ctx context.Context, now time.Time, limit int) ([]porting.Name, error)
}

// Renderer makes PDFs. The same arguments give the same bytes on every machine and at any time. loatest.RunRenderer tests one.
type Renderer interface {
	// RenderLetter returns the PDF of a letter. A *CharacterError: it cannot show a character of a text.
	RenderLetter(ctx context.Context, t Text) ([]byte, error)
	// RenderSigned returns the pages of RenderLetter and a page with the certificate. Errors are those of RenderLetter.
	RenderSigned(ctx context.Context, t Text, c Certificate) ([]byte, error)
}

// Requests advances port requests whose letters are signed; porting.Service implements it.
type Requests interface {
	// Sign submits a request. CodeInvalidState: it does not wait for a signature any more.
	Sign(ctx context.Context, org callwright.OrgID, id string, by porting.Actor, note string) (porting.Request, error)
	// Decline cancels a request. Errors are those of Sign.
	Decline(ctx context.Context, org callwright.OrgID, id, reason string) (porting.Request, error)
	// Undelivered notes that the letter cannot be delivered. Errors are those of Sign.
	Undelivered(ctx context.Context, org callwright.OrgID, id string) (porting.Request, error)
}

// CharacterError is the error of a Renderer that cannot show a character. It is a CodeBadRequest.
type CharacterError struct {
	Text string // has the character
	Char rune
}

// Error names the character and the text.
func (e *CharacterError) Error() string {
	return fmt.Sprintf("the letter cannot show the character %q of %q: write it in Latin, Greek or Cyrillic letters", e.Char, e.Text)
}

// Unwrap returns the CodeBadRequest, without a field.
func (e *CharacterError) Unwrap() error { return callwright.Invalid("", "%s", e.Error()) }
