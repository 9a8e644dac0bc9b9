package portingapi

import (
	"time"

	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

// requestRecord translates a port request without its history.
func requestRecord(r porting.Request) oas.PortRequest {
	why, status := explain(r.Failure), r.Status()
	record := oas.PortRequest{
		ID: r.ID, Status: oas.PortStatus(status.State), StatusDetail: wire.OptNilText(string(status.Detail)),
		PhoneNumbers: make([]oas.PortRequestNumber, len(r.Numbers)), AuthorizedRepEmail: r.Account.Email,
		NotificationEmails: wire.Texts[string](r.Account.NotifyEmails), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		TargetPortDate: optNilTime(r.TargetDate), AccountNumber: oas.NewOptString(porting.Masked(r.Account.AccountNumber)),
		Documents: r.Documents, FocDate: optNilTime(r.FOC()), SignBy: oas.NewOptDateTime(r.SignBy), SignedAt: optNilTime(r.SignedAt),
		CancelRequestedAt: optNilTime(r.CancelAskedAt), EndedAt: optNilTime(r.EndedAt),
		FailureReason: wire.OptNilText(why.Text), FailureCode: wire.OptNilText(string(why.Code)), WhoMustAct: wire.OptNilText(string(r.WaitsFor())),
	}
	for i, n := range r.Numbers {
		record.PhoneNumbers[i] = numberRecord(n)
	}
	return record
}

func numberRecord(n porting.Number) oas.PortRequestNumber {
	why := explain(n.Failure)
	record := oas.PortRequestNumber{
		Number: n.Number.String(), Status: oas.PortNumberStatus(n.State),
		Reason: wire.NilText(why.Text), ReasonCode: wire.NilText(string(why.Code)), WhoMustAct: wire.NilText(string(why.Act)),
		FocDate: nilTime(n.FOC), PortedAt: nilTime(n.PortedAt), PinProvided: n.HasPIN,
	}
	record.Inbound.Value, record.Inbound.Null = oas.PortRequestNumberInbound(n.Inbound), n.Inbound == porting.NotRegistered
	return record
}

// explain returns the meaning of a failure for customers, and the party that must act. It never contains the carrier's words. For nil, it
// returns the zero value.
func explain(f *porting.Failure) porting.Remedy {
	if f == nil {
		return porting.Remedy{}
	}
	return f.Code.Remedy()
}

func historyOf(entries []porting.Entry) []oas.PortHistoryEntry {
	history := make([]oas.PortHistoryEntry, len(entries))
	for i, e := range entries {
		history[i] = oas.PortHistoryEntry{
			At: e.At, Event: string(e.Event), From: wire.NilText(string(e.From)), To: string(e.To),
			Detail: wire.NilText(string(e.Detail)), Actor: string(e.Actor), Note: wire.NilText(e.Note),
		}
	}
	return history
}

// nilTime returns a time, or null for the zero time.
func nilTime(t time.Time) wire.Nil[time.Time] { return wire.Nil[time.Time]{Value: t, Null: t.IsZero()} }

// optNilTime returns a time, or null for the zero time, for an optional member. The member is always present.
func optNilTime(t time.Time) wire.OptNil[time.Time] {
	return wire.OptNil[time.Time]{Value: t, Set: true, Null: t.IsZero()}
}
