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
// Returned values share no memory with stored ones. They equal what was stored: times are in UTC with microseconds, a nil list stays nil,
// and PDFs are kept byte for byte. Another organization's letter is absent. Contents, PDFs and events are encrypted at rest. Methods take
// part in the transaction of ctx: see callwright.Atomic. A call that fails stores nothing, no PDF and no event either. RunRaces tests both,
// together with a porting.Store.
type Store interface {
	// InsertLetter adds a letter with Revision 1, its PDF and its first events. CodeConflict: there is a letter with its Request or its
	// LinkHash, of any organization; of concurrent calls exactly one succeeds.
	InsertLetter(ctx context.Context, l Letter, pdf []byte, events ...Event) error
	// Letter returns the letter of a request. CodeNotFound: it is absent.
	Letter(ctx context.Context, org callwright.OrgID, request string) (Letter, error)
	// LetterByLink returns the letter of any organization with this LinkHash. CodeNotFound: there is none now, or hash is empty.
	LetterByLink(ctx context.Context, hash string) (Letter, error)
	// UpdateLetter replaces a letter whose stored Revision is l.Revision, adds one to that, appends events to its audit trail, and
	// stores the signed PDF; nil: the stored one stays. CodeConflict: the Revision differs; of concurrent calls with the same one exactly one
	// succeeds. CodeNotFound: it is absent.
	UpdateLetter(ctx context.Context, l Letter, signed []byte, events ...Event) error
	// PDF returns the bytes of a letter as it was made, or as it was signed. CodeNotFound: there are none.
	PDF(ctx context.Context, org callwright.OrgID, request string, signed bool) ([]byte, error)
	// Events returns the audit trail of a letter by Number; an absent letter has none.
	Events(ctx context.Context, org callwright.OrgID, request string) ([]Event, error)
	// DueLetters names letters of all organizations whose DueAt is set and not after a time, the longest due first, at most limit.
	DueLetters(ctx context.Context, now time.Time, limit int) ([]porting.Name, error)
}

// Renderer makes PDFs. The same arguments give the same bytes on every machine and at any time, and other arguments give other bytes. It
// changes no argument and is safe for concurrent use. loatest.RunRenderer tests one.
type Renderer interface {
	// RenderLetter returns the PDF of a letter. It shows every text in whole, as text that can be copied, also porting.MaxNumbers numbers and
	// words that are longer than a line. Empty texts are left out. A *CharacterError with the character and the whole text: it cannot show a
	// character. No renderer shows control characters, characters that change the direction of text, and code points that are no
	// characters; each renderer chooses which others it shows.
	RenderLetter(ctx context.Context, t Text) ([]byte, error)
	// RenderSigned returns the pages of RenderLetter, of which the last may differ in the block of the signature, and one or more pages
	// with all texts of the certificate, and with the date and the time of SignedAt in UTC ("15:04:05"). Errors are as in RenderLetter,
	// also for Name and Title of the certificate. Its user agent may be shown with other characters instead of ones that cannot be shown.
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
