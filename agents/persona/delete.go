package persona

import (
	"context"
	"fmt"
	"strings"

	"github.com/callwright/callwright"
)

// namedNumbers bounds the numbers that the error of Delete names.
const namedNumbers = 5

// Delete deletes a persona. It then counts as absent; the store deletes it and its versions after KeepDeleted. Running calls continue.
// Delete returns CodeNotFound if the persona is absent or deleted, and CodeConflict if inbound numbers refer to it, because their calls
// would fail.
func (s *Service) Delete(ctx context.Context, org callwright.OrgID, id string) error {
	var inUse *callwright.Error // not returned by the change, because change retries after CodeConflict
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

// Hold locks a persona against deletion until the transaction of ctx ends. An inbound number that begins to refer to the persona is stored
// in this transaction. Hold returns CodeNotFound with the field persona_id if the persona is absent or deleted. It may only be called in a
// transaction.
func (s *Service) Hold(ctx context.Context, org callwright.OrgID, id string) error {
	return callwright.InField("persona_id", s.cfg.Store.HoldPersona(ctx, org, id))
}

// refuseNumbers returns CodeConflict for a persona that answers at numbers, or nil if numbers is empty.
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
		"the persona answers calls to %s: let another agent answer there first", strings.Join(named, ", "))
}
