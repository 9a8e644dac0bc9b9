package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/callwright/callwright"
)

// Attachment is the input of Attach. Each direction is attached for each number.
type Attachment struct {
	Numbers    []string // as callwright.ReadNumber accepts them
	Directions []DirectionInput
	Keep       bool // do not replace trunks: a number that already has one of the directions fails with CodeInvalidState
}

// Attached is the result of Attach.
type Attached struct {
	Configured []callwright.PhoneNumber
	Failed     []FailedNumber
	// Password is the password of our registrations, which the customer must configure in their system. It is empty unless a direction uses
	// AuthRegister and a number was attached. It is derived from the given credentials, and returned only here.
	Password callwright.Secret
}

// FailedNumber is a number that was not attached, with the error. The number's existing trunks are unchanged.
type FailedNumber struct {
	Number   string
	Err      *callwright.Error
	Unproven bool // the organization must first prove that it controls the number: see NeedsProof
}

// MaxNumbers is the maximum length of Attachment.Numbers.
const MaxNumbers = 100

// Attach creates trunks. An invalid direction fails the whole attachment. A refused number fails alone, for all of its directions. An
// internal error or an unavailable store ends the attachment with an error, but the numbers that were attached before the error stay
// attached. A direction that the organization has already attached is replaced and keeps the settings of Configure; if a.Keep is set, the
// number fails instead with CodeInvalidState. A repeated number is attached once.
//
// A number fails with CodeBadRequest if it is invalid, with CodeTooManyRequests beyond the organization's limit, Organization.NumberLimit,
// with CodeConflict if another organization has attached or reserved it, and with CodeInvalidState if the organization must first prove
// that it controls the number: see NeedsProof.
func (s *Service) Attach(ctx context.Context, org callwright.OrgID, a Attachment) (Attached, error) {
	if len(a.Numbers) == 0 || len(a.Numbers) > MaxNumbers {
		return Attached{}, callwright.Invalid("phone_numbers", "must hold 1 to %d numbers", MaxNumbers)
	}
	drafts, err := s.drafts(org, a.Directions)
	if err != nil {
		return Attached{}, err
	}
	var done Attached
	for _, text := range a.Numbers {
		number, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, text)
		if slices.Contains(done.Configured, number) {
			continue // the attachment repeats the number
		}
		if err == nil {
			err = s.checkProven(ctx, org, number, drafts)
		}
		if err == nil {
			err = s.attachNumber(ctx, org, number, drafts, a.Keep)
		}
		failure, coded := errors.AsType[*callwright.Error](err)
		switch {
		case err == nil:
			done.Configured = append(done.Configured, number)
		case coded && failure.Code != callwright.CodeInternal && failure.Code != callwright.CodeUnavailable:
			done.Failed = append(done.Failed, FailedNumber{Number: text, Err: failure, Unproven: errors.Is(err, errUnproven)})
		default:
			return done, err
		}
	}
	if len(done.Configured) > 0 {
		done.Password = passwordOf(drafts)
	}
	return done, nil
}

// draft is a trunk without a number, which Attach completes for each number.
type draft struct {
	Trunk
	path string // JSON path of its direction in the attachment
}

func directionPath(i int) string { return "directions[" + strconv.Itoa(i) + "]" }

// drafts converts the directions of an attachment to trunks. The outbound trunk comes first, because an inbound trunk may copy the outbound
// trunk's registrar.
func (s *Service) drafts(org callwright.OrgID, directions []DirectionInput) ([]draft, error) {
	var types []Direction
	for _, d := range directions {
		types = append(types, d.Type)
	}
	if err := checkDirections(types); err != nil {
		return nil, err
	}
	var drafts []draft
	for i, d := range directions {
		t, err := s.shape(Trunk{Org: org, Direction: d.Type}, d)
		if err != nil {
			return nil, below(directionPath(i), err)
		}
		drafts = append(drafts, draft{t, directionPath(i)})
	}
	slices.SortFunc(drafts, func(a, b draft) int { return -cmp.Compare(a.Direction, b.Direction) })
	return drafts, nil
}

func passwordOf(drafts []draft) callwright.Secret {
	for _, d := range drafts {
		if d.registers() {
			return d.Options.Register.Password
		}
	}
	return ""
}

// attachNumber attaches all directions of a number in one transaction. If keep is set, it returns CodeInvalidState instead of replacing a
// trunk.
func (s *Service) attachNumber(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, drafts []draft, keep bool,
) error {
	if err := s.checkOwner(ctx, org, number); err != nil {
		return err
	}
	err := s.atomically(ctx, func(ctx context.Context) error {
		r, err := s.held(ctx, org, number)
		if err != nil {
			return err
		}
		if r == (Record{}) {
			if err := s.admit(ctx, org); err != nil {
				return err
			}
		}
		for _, d := range drafts {
			if keep && r.of(d.Direction) != nil {
				return callwright.Errorf(callwright.CodeInvalidState, "has an %s trunk already: change that trunk, or remove it first", d.Direction)
			}
			t, err := s.storeDraft(ctx, r, number, d)
			if err != nil {
				return err
			}
			r.storeDraft(t)
		}
		return nil
	})
	if errors.Is(err, callwright.ErrConflict) { // another organization may have attached the number meanwhile
		err = cmp.Or(s.checkOwner(ctx, org, number), err)
	}
	return err
}

// admit returns CodeTooManyRequests if an organization has reached its limit of numbers. Concurrent attachments of an organization wait for
// each other here, so that together they cannot exceed the limit.
func (s *Service) admit(ctx context.Context, org callwright.OrgID) error {
	attached, err := s.cfg.Store.HoldNumbers(ctx, org)
	if err != nil {
		return err
	}
	var o callwright.Organization
	if s.cfg.Numbering != nil {
		if o, err = s.cfg.Numbering.Organization(ctx, org); err != nil && !errors.Is(err, callwright.ErrNotFound) {
			return err
		}
	}
	if attached < o.NumberLimit() {
		return nil
	}
	return &callwright.Error{
		Code: callwright.CodeTooManyRequests, Field: "phone_numbers",
		Message: fmt.Sprintf("the organization has %d attached numbers and may have at most %d: detach some, or ask the operator of this service for more", attached, o.NumberLimit()),
	}
}

// storeDraft stores a draft as a trunk of a number. It replaces the trunk of that direction in r, if any, and keeps the settings that
// Configure has made. If the direction is inbound, it also registers the number.
func (s *Service) storeDraft(ctx context.Context, r Record, number callwright.PhoneNumber, d draft) (Trunk, error) {
	t, err := withRegistrar(d.Trunk, r)
	if err != nil {
		return Trunk{}, below(d.path, err)
	}
	t.Number = number
	old := r.of(d.Direction)
	if old != nil {
		t.ID, t.CreatedAt, t.Version = old.ID, old.CreatedAt, old.Version
		t.Failover, t.Codecs, t.Alerts = old.Failover, old.Codecs, old.Alerts
	}
	if t, err = s.store(ctx, old, t); err != nil || d.Direction != Inbound {
		return t, err
	}
	return t, s.cfg.Numbers.RegisterInbound(ctx, t.Org, number)
}

// checkOwner returns CodeConflict if another organization has attached or reserved a number. The error does not name the owner.
func (s *Service) checkOwner(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) error {
	numbers := []callwright.PhoneNumber{number}
	elsewhere, err := s.ServedElsewhere(ctx, org, numbers)
	if err == nil && len(elsewhere) == 0 && s.cfg.Reservations != nil {
		elsewhere, err = s.cfg.Reservations.ReservedElsewhere(ctx, org, numbers)
	}
	if err == nil && len(elsewhere) > 0 {
		err = &callwright.Error{Code: callwright.CodeConflict, Field: "phone_numbers", Message: "the number is not available to this organization: use another number, or ask the operator of this service"}
	}
	return err
}
