package sip

import (
	"context"
	"errors"
	"slices"

	"github.com/callwright/callwright"
)

// errUnproven is wrapped by the error for a number that the organization must prove first.
var errUnproven = errors.New("the number is not proven")

// checkProven returns CodeInvalidState if drafts attach a number inbound that the organization must prove first.
func (s *Service) checkProven(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, drafts []draft) error {
	if s.cfg.Proofs == nil || !slices.ContainsFunc(drafts, func(d draft) bool { return d.Direction == Inbound }) {
		return nil
	}
	needed, err := s.NeedsProof(ctx, org, number)
	if err == nil && needed {
		err = (&callwright.Error{
			Code: callwright.CodeInvalidState, Field: "phone_numbers",
			Message: "the number must be proven before it is attached inbound: have it called, and send the code that is read out",
		}).Because(errUnproven)
	}
	return err
}

// NeedsProof reports whether an organization must prove that it answers a number before attaching it inbound. It returns false if the
// organization has recently proven the number, has attached it inbound, or holds it after a finished port, and if Config.Proofs is nil. It
// returns CodeConflict if another organization has attached or reserved the number.
func (s *Service) NeedsProof(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (bool, error) {
	if err := s.checkOwner(ctx, org, number); err != nil || s.cfg.Proofs == nil {
		return false, err
	}
	r, err := s.record(ctx, org, number)
	if err != nil || r.Inbound != nil {
		return false, err
	}
	if s.cfg.Reservations != nil {
		reserved, err := s.cfg.Reservations.ReservedElsewhere(ctx, "", []callwright.PhoneNumber{number})
		if err != nil || len(reserved) > 0 { // reserved for org itself: checkOwner has refused all others
			return false, err
		}
	}
	proven, err := s.cfg.Proofs.Proven(ctx, org, number)
	return !proven, err
}

// ProofCaller returns an organization's outbound number that calls the given number for its proof. It prefers another number than the given
// one, because networks route a call from a number to itself to the mailbox. It returns CodeInvalidState if the organization has no
// outbound number.
func (s *Service) ProofCaller(ctx context.Context, org callwright.OrgID, to callwright.PhoneNumber) (callwright.PhoneNumber, error) {
	trunks, err := s.cfg.Store.Outbound(ctx, org, 2)
	if err != nil {
		return "", err
	}
	var from callwright.PhoneNumber
	for _, t := range trunks {
		if from == "" || from == to {
			from = t.Number
		}
	}
	if from == "" {
		return "", callwright.Errorf(callwright.CodeInvalidState, "the number is called over your outbound trunk: attach a number for outbound calls first")
	}
	return from, nil
}
