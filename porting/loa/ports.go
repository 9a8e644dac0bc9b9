package loa

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Store stores letters with their PDFs and audit trails. loatest.RunStore tests it.
//
// Returned values share no memory with stored ones. They equal the stored values: times are in UTC with microseconds, a nil list
// stays nil, and PDFs are stored byte for byte. Another organization's letter is absent. Contents, PDFs and events are encrypted at
// rest. Methods take part in the transaction of ctx: see callwright.Atomic. A call that fails stores nothing, no PDF and no event
// either. RunRaces tests both, together with a porting.Store.
type Store interface {
	// InsertLetter adds a letter with Revision 1, its PDF and its first events. CodeConflict: any organization's letter has its
	// Request or its LinkHash; of concurrent calls exactly one succeeds.
	InsertLetter(ctx context.Context, l Letter, pdf []byte, events ...Event) error
	// Letter returns the letter of a request. CodeNotFound: it is absent.
	Letter(ctx context.Context, org callwright.OrgID, request string) (Letter, error)
	// LetterByLink returns the letter of any organization with this LinkHash. CodeNotFound: no letter has it now, or hash is empty.
	LetterByLink(ctx context.Context, hash string) (Letter, error)
	// UpdateLetter replaces a letter whose stored Revision is l.Revision, adds one to it, appends events to its audit trail, and
	// stores the signed PDF; nil: the stored one stays. CodeConflict: the Revision differs; of concurrent calls with the same one
	// exactly one succeeds. CodeNotFound: it is absent.
	UpdateLetter(ctx context.Context, l Letter, signed []byte, events ...Event) error
	// PDF returns the PDF of a letter, or of the signed letter. CodeNotFound: it is absent.
	PDF(ctx context.Context, org callwright.OrgID, request string, signed bool) ([]byte, error)
	// Events returns the audit trail of a letter by Number; an absent letter has none.
	Events(ctx context.Context, org callwright.OrgID, request string) ([]Event, error)
	// DueLetters names letters of all organizations whose DueAt is set and not after now, by DueAt, at most limit.
	DueLetters(ctx context.Context, now time.Time, limit int) ([]porting.Name, error)
}

// Renderer renders PDFs. Equal arguments give equal bytes on every machine and at any time, and different arguments give different
// bytes. It changes no argument and is safe for concurrent use. loatest.RunRenderer tests it.
type Renderer interface {
	// RenderLetter returns the PDF of a letter. It shows every text completely, as text that can be copied, including
	// porting.MaxNumbers numbers and words longer than a line. It omits empty texts. If it cannot show a character, it returns a
	// *CharacterError with the character and the whole text. Every renderer refuses control characters, characters that change the
	// direction of text, and code points that are not characters; it may refuse others.
	RenderLetter(ctx context.Context, t Text) ([]byte, error)
	// RenderSigned returns the pages of RenderLetter, of which the last may differ in the block of the signature, and one or more
	// pages with all texts of the certificate, and with the date and the time of SignedAt in UTC ("15:04:05"). Errors are as in
	// RenderLetter, also for Name and Title of the certificate. Characters of its user agent that cannot be shown may be replaced.
	RenderSigned(ctx context.Context, t Text, c Certificate) ([]byte, error)
}

// Requests advances port requests whose letters are signed; porting.Service implements it.
type Requests interface {
	// Sign submits a request. CodeInvalidState: it no longer waits for a signature.
	Sign(ctx context.Context, org callwright.OrgID, id string, by porting.Actor, note string) (porting.Request, error)
	// Decline cancels a request. Errors are as of Sign.
	Decline(ctx context.Context, org callwright.OrgID, id, reason string) (porting.Request, error)
	// Undelivered records that the letter cannot be delivered. Errors are as of Sign.
	Undelivered(ctx context.Context, org callwright.OrgID, id string) (porting.Request, error)
}

// CharacterError is the error of a Renderer that cannot show a character. It is a CodeBadRequest.
type CharacterError struct {
	Text string // the text with the character
	Char rune
}

// Error names the character and the text.
func (e *CharacterError) Error() string {
	return fmt.Sprintf("the letter cannot show the character %q of %q: write it in Latin, Greek or Cyrillic letters", e.Char, e.Text)
}

// Unwrap returns the CodeBadRequest, without a field.
func (e *CharacterError) Unwrap() error { return callwright.Invalid("", "%s", e.Error()) }
