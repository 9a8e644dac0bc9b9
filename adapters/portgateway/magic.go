package portgateway

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// treatment identifies how the simulated carrier processes a number.
type treatment int

const (
	ports         treatment = iota
	rejects                 // with a code, instead of the confirmation
	moves                   // withdraws the first date and confirms a later one
	holds                   // waits for an impossible action, until the request is canceled
	staysPending            // waits for the losing carrier until the date, then ports
	refusesCancel           // refuses to cancel the order, then ports
	portsEarly              // ports when the carrier is asked to cancel
	puzzles                 // reports an unknown status until the confirmation
	refuses                 // refuses the order immediately
	losesOrder              // loses the first answer to the order
	silent                  // never answers a request
)

// MagicNumber describes how the simulated carrier treats numbers that end in 55501 and two given digits, such as +14155550109. The carrier
// ports all other numbers.
type MagicNumber struct {
	Digits string // the last two digits
	What   string
	does   treatment
	code   porting.FailureCode
}

// prefix precedes the last two digits of a magic number. In North America, 555-0100 to 555-0199 are reserved for fiction.
const prefix = "55501"

// magic lists all magic numbers. The digits of a rejection are the position of its code in porting.Remedies, from 01.
var magic = func() []MagicNumber {
	all := []MagicNumber{{"00", "is ported", ports, ""}}
	for i, r := range porting.Remedies() {
		all = append(all, MagicNumber{fmt.Sprintf("%02d", i+1), "is rejected: `" + string(r.Code) + "`", rejects, r.Code})
	}
	return append(all,
		MagicNumber{"40", "is ported later than on its first confirmed date, which is withdrawn", moves, porting.FOCRejected},
		MagicNumber{"41", "is held up by `address_mismatch` until the request is canceled", holds, porting.AddressMismatch},
		MagicNumber{"42", "is held up by `carrier_unresponsive` until its date, and then ported", staysPending, porting.CarrierUnresponsive},
		MagicNumber{"50", "is ported; the carrier refuses to cancel", refusesCancel, ""},
		MagicNumber{"51", "is ported at once when the carrier is asked to cancel", portsEarly, ""},
		MagicNumber{"60", "is ported; before that it has a status that is not known", puzzles, ""},
		MagicNumber{"61", "has its order refused at once: `account_number_mismatch`", refuses, porting.AccountNumberMismatch},
		MagicNumber{"62", "is ported; the first answer to its order is lost", losesOrder, ""},
		MagicNumber{"63", "gets no answer, ever", silent, ""},
	)
}()

// Magic returns a copy of the list of all magic numbers.
func Magic() []MagicNumber { return slices.Clone(magic) }

// magicOf returns the magic number in which a number ends. For a number that is not magic, it returns the first one, which is ported.
func magicOf(number callwright.PhoneNumber) MagicNumber {
	digits := number.Digits()
	if len(digits) > len(prefix)+2 && strings.HasPrefix(digits[len(digits)-len(prefix)-2:], prefix) {
		for _, m := range magic {
			if strings.HasSuffix(digits, m.Digits) {
				return m
			}
		}
	}
	return magic[0]
}

// has reports whether any number of an order has the treatment d.
func has(o porting.Order, d treatment) bool {
	return slices.ContainsFunc(o.Numbers, func(n callwright.PhoneNumber) bool { return magicOf(n).does == d })
}

// stage is a state of a number, and the time at which the number enters it.
type stage struct {
	from time.Time
	porting.NumberSnapshot
}

// at returns the state of an order's number at the given time, including the effect of a cancellation.
func (s *Simulated) at(o porting.Order, number callwright.PhoneNumber, now time.Time) porting.NumberSnapshot {
	shot := porting.NumberSnapshot{Number: number, State: porting.NumberSubmitted}
	answer, answered := s.answersCancel(o)
	for _, st := range s.stages(o, number) {
		if st.from.After(now) || answered && !st.from.Before(answer.from) {
			break
		}
		shot = st.NumberSnapshot
		shot.Number = number
	}
	if answered && !answer.from.After(now) && !shot.State.Ended() {
		shot = answer.NumberSnapshot
		shot.Number = number
	}
	return shot
}

// stages returns the stages through which a number passes if its order is not canceled, in order of time.
func (s *Simulated) stages(o porting.Order, number callwright.PhoneNumber) []stage {
	m := magicOf(number)
	accept, confirm, port := o.SignedAt.Add(s.cfg.AcceptAfter), o.SignedAt.Add(s.cfg.ConfirmAfter), s.portsAt(o)
	failure := &porting.Failure{Code: m.code, Raw: "simulated"}
	begun := stage{accept, porting.NumberSnapshot{State: porting.NumberInProgress}}
	dated := stage{confirm, porting.NumberSnapshot{State: porting.NumberConfirmed, FOC: port}}
	ported := stage{port, porting.NumberSnapshot{State: porting.NumberPorted, FOC: port, PortedAt: port}}
	switch m.does {
	case rejects:
		return []stage{begun, {confirm, porting.NumberSnapshot{State: porting.NumberRejected, Failure: failure}}}
	case moves:
		later := port.Add(port.Sub(confirm))
		withdrawn := confirm.Add(port.Sub(confirm) / 2)
		return []stage{
			begun, dated,
			{withdrawn, porting.NumberSnapshot{State: porting.NumberInProgress, Failure: failure}},
			{port, porting.NumberSnapshot{State: porting.NumberConfirmed, FOC: later}},
			{later, porting.NumberSnapshot{State: porting.NumberPorted, FOC: later, PortedAt: later}},
		}
	case holds, staysPending:
		held := stage{confirm, porting.NumberSnapshot{State: porting.NumberInProgress, Failure: failure}}
		if m.does == holds {
			return []stage{begun, held}
		}
		return []stage{begun, held, ported}
	case puzzles:
		return []stage{{accept, porting.NumberSnapshot{}}, dated, ported}
	default:
		return []stage{begun, dated, ported}
	}
}

// portsAt returns the time at which the carrier ports an order's numbers: PortAfter after the signature, or else 16:00 UTC of the target
// date, but at least 48 hours after the confirmation.
func (s *Simulated) portsAt(o porting.Order) time.Time {
	if s.cfg.PortAfter > 0 {
		return o.SignedAt.Add(s.cfg.PortAfter)
	}
	asked, first := o.TargetDate.UTC().Truncate(24*time.Hour).Add(16*time.Hour), o.SignedAt.Add(s.cfg.ConfirmAfter+48*time.Hour)
	if asked.Before(first) {
		return first
	}
	return asked
}

// answersCancel returns the stage that an order's numbers enter after a cancellation was requested. They are ported if any number has the
// treatment portsEarly, and canceled otherwise. It returns false if no cancellation was requested, or if the carrier refuses it.
func (s *Simulated) answersCancel(o porting.Order) (stage, bool) {
	if o.CancelAskedAt.IsZero() || !s.refusesCancelAt(o).IsZero() {
		return stage{}, false
	}
	at := o.CancelAskedAt.Add(s.cfg.AcceptAfter)
	if has(o, portsEarly) {
		return stage{at, porting.NumberSnapshot{State: porting.NumberPorted, FOC: at, PortedAt: at}}, true
	}
	return stage{at, porting.NumberSnapshot{State: porting.NumberCanceled}}, true
}

// refusesCancelAt returns the time at which the carrier refuses to cancel an order, or the zero time if it does not refuse.
func (s *Simulated) refusesCancelAt(o porting.Order) time.Time {
	tooLate := o.CancelAskedAt.Add(max(0, s.cfg.CutOff)).After(s.portsAt(o)) && !has(o, holds)
	if o.CancelAskedAt.IsZero() || !tooLate && !has(o, refusesCancel) {
		return time.Time{}
	}
	return o.CancelAskedAt.Add(s.cfg.AcceptAfter)
}
