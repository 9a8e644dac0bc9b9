package persona

import (
	"context"
	"fmt"
	"strings"

	"github.com/callwright/callwright"
)

// namedNumbers is the maximum of numbers that an error names.
const namedNumbers = 5

// Delete deletes a persona: it is then absent, and removed from the store with its versions after KeepDeleted. Running calls
// continue. CodeNotFound: it is absent or deleted. CodeConflict: inbound numbers refer to it, whose calls would fail.
func (s *Service) Delete(ctx context.Context, org callwright.OrgID, id string) error {
	var inUse *callwright.Error // separate from the error of the change, which is retried after a conflict
	_, err := s.change(ctx, org, id, func(ctx context.Context, p *Persona) error {
		if err := s.cfg.Store.HoldPersona(ctx, org, id); err != nil { // before its numbers are read: see Hold
			return err
		}
		numbers, err := s.numbersOf(ctx, org, []string{id})
		if err != nil {
			return err
		}
		if inUse = refuseNumbers(numbers[id]); inUse != nil {
			return callwright.ErrInvalidState
		}
		p.DeletedAt = s.cfg.Clock.Now()
		return nil
	})
	if inUse != nil {
		return inUse
	}
	return err
}

// Hold locks a persona against deletion until the transaction of ctx ends, in which an inbound number begins to refer to it.
// CodeNotFound with the field persona_id: it is absent or deleted. It is only called in a transaction.
func (s *Service) Hold(ctx context.Context, org callwright.OrgID, id string) error {
	return callwright.InField("persona_id", s.cfg.Store.HoldPersona(ctx, org, id))
}

// refuseNumbers returns the error for a persona that answers at numbers; nil without numbers.
func refuseNumbers(numbers []callwright.PhoneNumber) *callwright.Error {
	if len(numbers) == 0 {
		return nil
	}
	var named []string
	for _, number := range numbers[:min(len(numbers), namedNumbers)] {
		named = append(named, number.String())
	}
	if more := len(numbers) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return callwright.Errorf(callwright.CodeConflict,
		"the persona answers at %s: let something else answer there first", strings.Join(named, ", "))
}
