package portingstore

import (
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting/loa"
)

type letterRow struct {
	bun.BaseModel `bun:"table:port_letters,alias:letter"`

	Request      string     `bun:"request_id,pk"`
	Org          string     `bun:"org"`
	State        string     `bun:"state"`
	Version      int64      `bun:"version"` // loa.Letter.Revision
	LinkHash     string     `bun:"link_hash"`
	DueAt        *time.Time `bun:"due_at"`
	Link         int        `bun:"link"`
	Reminders    int        `bun:"reminders"`
	SHA256       string     `bun:"sha256"`
	SignedSHA256 string     `bun:"signed_sha256"`
	SignBy       *time.Time `bun:"sign_by"`
	CreatedAt    time.Time  `bun:"created_at"`
	EndedAt      *time.Time `bun:"ended_at"`
	Events       int        `bun:"events"`
	Head         string     `bun:"head"`
	Document     string     `bun:"document"` // sealed loa.Content
}

func (db core) letterRow(l loa.Letter) (row letterRow, err error) {
	row = letterRow{
		Request: l.Request, Org: string(l.Org), State: string(l.State), Version: l.Revision, LinkHash: l.LinkHash, DueAt: orNull(l.DueAt),
		Link: l.Link, Reminders: l.Reminders, SHA256: l.SHA256, SignedSHA256: l.SignedSHA256, SignBy: orNull(l.SignBy),
		CreatedAt: sqldb.Stored(l.CreatedAt), EndedAt: orNull(l.EndedAt), Events: l.Events, Head: l.Head,
	}
	row.Document, err = db.seal(purpose("letter", row.Org, row.Request), l.Content)
	return row, err
}

func (db core) letter(row letterRow) (loa.Letter, error) {
	var content loa.Content
	if err := db.unseal(purpose("letter", row.Org, row.Request), row.Document, &content); err != nil {
		return loa.Letter{}, err
	}
	return loa.Letter{
		Org: callwright.OrgID(row.Org), Request: row.Request, State: loa.State(row.State), Content: content, SHA256: row.SHA256,
		SignedSHA256: row.SignedSHA256, Link: row.Link, LinkHash: row.LinkHash, SignBy: orZero(row.SignBy), Reminders: row.Reminders,
		DueAt: orZero(row.DueAt), CreatedAt: row.CreatedAt.UTC(), EndedAt: orZero(row.EndedAt), Events: row.Events, Head: row.Head,
		Revision: row.Version,
	}, nil
}

type letterPDFRow struct {
	bun.BaseModel `bun:"table:port_letter_pdfs,alias:letter_pdf"`

	Request string `bun:"request_id,pk"`
	Signed  bool   `bun:"signed,pk"`
	Org     string `bun:"org"`
	PDF     string `bun:"pdf"` // sealed PDF
}

func pdfPurpose(org, request string, signed bool) string {
	return fmt.Sprintf("PDF of letter:%q:%q:%t", org, request, signed)
}

type letterEventRow struct {
	bun.BaseModel `bun:"table:port_letter_events,alias:letter_event"`

	Request  string    `bun:"request_id,pk"`
	Number   int       `bun:"number,pk"`
	Org      string    `bun:"org"`
	At       time.Time `bun:"at"`
	Kind     string    `bun:"kind"`
	Document string    `bun:"document"` // sealed letterEventJSON
}

// letterEventJSON is the sealed part of an event. testdata/letter.json contains all members of letterEventJSON and loa.Content, and a test
// fails if a member is renamed.
type letterEventJSON struct {
	Email      string     `json:"email,omitempty"`
	SHA256     string     `json:"sha256,omitempty"`
	Name       string     `json:"name,omitempty"`
	Title      string     `json:"title,omitempty"`
	Disclosure string     `json:"disclosure,omitempty"`
	Origin     loa.Origin `json:"origin,omitzero"`
	Reason     string     `json:"reason,omitempty"`
	Previous   string     `json:"previous,omitempty"`
	Hash       string     `json:"hash"`
}

func newLetterEventJSON(e loa.Event) letterEventJSON {
	return letterEventJSON{e.Email, e.SHA256, e.Name, e.Title, e.Disclosure, e.Origin, e.Reason, e.Previous, e.Hash}
}

func eventPurpose(org, request string, number int) string {
	return fmt.Sprintf("event of letter:%q:%q:%d", org, request, number)
}

func (db core) letterEventRow(l loa.Letter, e loa.Event) (row letterEventRow, err error) {
	row = letterEventRow{Request: l.Request, Number: e.Number, Org: string(l.Org), At: sqldb.Stored(e.At), Kind: string(e.Kind)}
	row.Document, err = db.seal(eventPurpose(row.Org, row.Request, row.Number), newLetterEventJSON(e))
	return row, err
}

func (db core) letterEvent(row letterEventRow) (loa.Event, error) {
	var j letterEventJSON
	if err := db.unseal(eventPurpose(row.Org, row.Request, row.Number), row.Document, &j); err != nil {
		return loa.Event{}, err
	}
	return loa.Event{
		Number: row.Number, At: row.At.UTC(), Kind: loa.EventKind(row.Kind), Email: j.Email, SHA256: j.SHA256, Name: j.Name, Title: j.Title,
		Disclosure: j.Disclosure, Origin: j.Origin, Reason: j.Reason, Previous: j.Previous, Hash: j.Hash,
	}, nil
}
