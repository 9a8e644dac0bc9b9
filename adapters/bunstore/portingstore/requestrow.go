package portingstore

import (
	"net/netip"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting"
)

type requestRow struct {
	bun.BaseModel `bun:"table:port_requests,alias:request"`

	ID            string     `bun:"id,pk"`
	Org           string     `bun:"org"`
	State         string     `bun:"state"`
	Version       int64      `bun:"version"` // porting.Request.Revision
	CreatedAt     time.Time  `bun:"created_at"`
	DueAt         *time.Time `bun:"due_at"`
	Gateway       string     `bun:"gateway"`
	Ref           string     `bun:"ref"`
	Sending       bool       `bun:"sending"`
	Snapshot      int64      `bun:"snapshot_version"` // porting.Request.Version
	Misses        int        `bun:"misses"`
	Undelivered   bool       `bun:"undelivered"`
	CancelSent    bool       `bun:"cancel_sent"`
	CancelAskedBy string     `bun:"cancel_asked_by"`
	Entries       int        `bun:"entries"`
	TargetDate    *time.Time `bun:"target_date"`
	SignedAt      *time.Time `bun:"signed_at"`
	SignBy        *time.Time `bun:"sign_by"`
	HeldSince     *time.Time `bun:"held_since"`
	CancelAskedAt *time.Time `bun:"cancel_asked_at"`
	UpdatedAt     time.Time  `bun:"updated_at"`
	EndedAt       *time.Time `bun:"ended_at"`
	Document      string     `bun:"document"` // sealed requestJSON
}

// fixed lists the columns of a request that UpdateRequest does not write.
var fixed = []string{"id", "org", "created_at"}

func (db core) requestRow(r porting.Request) (row requestRow, err error) {
	row = requestRow{
		ID: r.ID, Org: string(r.Org), State: string(r.State), Version: r.Revision, CreatedAt: sqldb.Stored(r.CreatedAt),
		DueAt: orNull(r.DueAt), Gateway: r.Gateway, Ref: r.Ref, Sending: r.Sending, Snapshot: r.Version, Misses: r.Misses,
		Undelivered: r.Undelivered, CancelSent: r.CancelSent, CancelAskedBy: string(r.CancelAskedBy), Entries: r.Entries,
		TargetDate: orNull(r.TargetDate), SignedAt: orNull(r.SignedAt), SignBy: orNull(r.SignBy), HeldSince: orNull(r.HeldSince),
		CancelAskedAt: orNull(r.CancelAskedAt), UpdatedAt: sqldb.Stored(r.UpdatedAt), EndedAt: orNull(r.EndedAt),
	}
	row.Document, err = db.seal(purpose("port request", row.Org, row.ID), newRequestJSON(r))
	return row, err
}

func (db core) request(row requestRow) (porting.Request, error) {
	var document requestJSON
	if err := db.unseal(purpose("port request", row.Org, row.ID), row.Document, &document); err != nil {
		return porting.Request{}, err
	}
	return porting.Request{
		ID: row.ID, Org: callwright.OrgID(row.Org), State: porting.State(row.State), Numbers: document.numbers(),
		Account: document.Account.account(), TargetDate: orZero(row.TargetDate), Documents: document.Documents,
		Failure: document.Failure, CallsFrom: document.CallsFrom, Webhook: callwright.Secret(document.Webhook), SignedAt: orZero(row.SignedAt),
		SignBy: orZero(row.SignBy), Undelivered: row.Undelivered, Gateway: row.Gateway, Sending: row.Sending, Ref: row.Ref,
		Version: row.Snapshot, DueAt: orZero(row.DueAt), Misses: row.Misses, HeldSince: orZero(row.HeldSince),
		CancelAskedAt: orZero(row.CancelAskedAt), CancelAskedBy: porting.Actor(row.CancelAskedBy), CancelSent: row.CancelSent,
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), EndedAt: orZero(row.EndedAt), Entries: row.Entries,
		Revision: row.Version,
	}, nil
}

// requestJSON is the sealed part of a request. Its members have the names of the Go fields in the domain. testdata/request.json contains
// all of them, and a test fails if one is renamed. The types below contain secrets as plain text, because a callwright.Secret is encoded as
// a placeholder.
type requestJSON struct {
	Numbers   []numberJSON
	Account   accountJSON
	Documents []string
	Failure   *porting.Failure
	CallsFrom []netip.Prefix
	Webhook   string
}

type numberJSON struct {
	porting.Number

	PIN string
}

type accountJSON struct {
	porting.Account

	AccountNumber string
}

func newRequestJSON(r porting.Request) requestJSON {
	return requestJSON{
		Numbers: sqldb.Converted(r.Numbers, func(n porting.Number) numberJSON {
			n.FOC, n.PortedAt = sqldb.Stored(n.FOC), sqldb.Stored(n.PortedAt)
			return numberJSON{n, n.PIN.Reveal()}
		}),
		Account: accountJSON{r.Account, r.Account.AccountNumber.Reveal()}, Documents: r.Documents, Failure: r.Failure,
		CallsFrom: r.CallsFrom, Webhook: r.Webhook.Reveal(),
	}
}

func (j requestJSON) numbers() []porting.Number {
	return sqldb.Converted(j.Numbers, func(n numberJSON) porting.Number {
		n.Number.PIN = callwright.Secret(n.PIN)
		return n.Number
	})
}

func (j accountJSON) account() porting.Account {
	j.Account.AccountNumber = callwright.Secret(j.AccountNumber)
	return j.Account
}
