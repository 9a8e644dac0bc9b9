package loa

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Store stores letters with their PDFs and audit trails. loatest.RunStore tests an implementation.
//
// Returned values share no memory with stored values and equal them: times are in UTC with microseconds, a nil list stays nil, and PDFs are
// stored byte for byte. Methods treat another organization's letter as absent. Contents, PDFs and events are encrypted at rest. Methods
// take part in the transaction of ctx: see callwright.Atomic. A call that fails stores nothing, not even a PDF or an event.
// loatest.RunRaces tests a Store together with a porting.Store of the same database.
type Store interface {
	// InsertLetter adds a letter with Revision 1, its PDF and its first events. It returns CodeConflict if a letter of any organization has
	// the same Request or LinkHash; of concurrent calls exactly one succeeds.
	InsertLetter(ctx context.Context, l Letter, pdf []byte, events ...Event) error
	// Letter returns the letter of a request. It returns CodeNotFound if the organization has no such letter.
	Letter(ctx context.Context, org callwright.OrgID, request string) (Letter, error)
	// LetterByLink returns the letter, of any organization, whose current LinkHash is hash. It returns CodeNotFound if no letter has it or
	// hash is empty.
	LetterByLink(ctx context.Context, hash string) (Letter, error)
	// UpdateLetter replaces a letter whose stored Revision is l.Revision, increments the Revision, and appends events to the audit trail.
	// It stores signed as the signed PDF, unless signed is nil. It returns CodeNotFound if the letter is absent, and CodeConflict if the
	// Revision differs; of concurrent calls with the same Revision exactly one succeeds.
	UpdateLetter(ctx context.Context, l Letter, signed []byte, events ...Event) error
	// PDF returns the unsigned or the signed PDF of a letter. It returns CodeNotFound if that PDF is absent.
	PDF(ctx context.Context, org callwright.OrgID, request string, signed bool) ([]byte, error)
	// Events returns the audit trail of a letter in ascending order of Number, or an empty list if the letter is absent.
	Events(ctx context.Context, org callwright.OrgID, request string) ([]Event, error)
	// DueLetters returns the names of at most limit letters of all organizations whose DueAt is set and not after now, in ascending order
	// of DueAt.
	DueLetters(ctx context.Context, now time.Time, limit int) ([]porting.Name, error)
}

// Renderer renders PDFs. Equal arguments produce equal bytes on every machine and at any time, and different arguments produce different
// bytes. A Renderer must not modify its arguments, and must be safe for concurrent use. loatest.RunRenderer tests it.
type Renderer interface {
	// RenderLetter returns the PDF of a letter. The PDF shows every text completely, as text that can be copied, including
	// porting.MaxNumbers numbers and words longer than a line. It omits empty texts. If RenderLetter cannot show a character, it returns a
	// *CharacterError with the character and the whole text. It must refuse control characters, characters that change the direction of
	// text, and code points that are not characters; it may refuse others.
	RenderLetter(ctx context.Context, t Text) ([]byte, error)
	// RenderSigned returns the pages of RenderLetter, followed by one or more pages with all texts of the certificate, and with the date
	// and the time of SignedAt in UTC ("15:04:05"). The signature block on the letter's last page may differ from RenderLetter's.
	// RenderSigned returns the same errors as RenderLetter, also for the Name and the Title of the certificate. It may replace characters
	// of the user agent that it cannot show.
	RenderSigned(ctx context.Context, t Text, c Certificate) ([]byte, error)
}

// Requests updates port requests when their letters are signed, declined or undeliverable; porting.Service implements it.
type Requests interface {
	// Sign records the signature of a request's letter, and submits the request. The parameter by is the party that signed, or the operator
	// who entered the signature; note describes the signature. Sign returns CodeInvalidState if the request no longer waits for a
	// signature, and CodeNotFound if the request is absent.
	Sign(ctx context.Context, org callwright.OrgID, id string, by porting.Actor, note string) (porting.Request, error)
	// Decline cancels a request. It returns the same errors as Sign.
	Decline(ctx context.Context, org callwright.OrgID, id, reason string) (porting.Request, error)
	// Undelivered records that the letter of a request cannot be delivered. It returns the same errors as Sign.
	Undelivered(ctx context.Context, org callwright.OrgID, id string) (porting.Request, error)
}

// CharacterError is the error of a Renderer that cannot show a character. It wraps an error with CodeBadRequest.
type CharacterError struct {
	Text string // whole text that contains Char
	Char rune
}

// Error returns a message with the character and the text.
func (e *CharacterError) Error() string {
	return fmt.Sprintf("the letter cannot show the character %q of %q: write the text in Latin, Greek or Cyrillic letters", e.Char, e.Text)
}

// Unwrap returns a CodeBadRequest error with the same message, without a field.
func (e *CharacterError) Unwrap() error { return callwright.Invalid("", "%s", e.Error()) }
