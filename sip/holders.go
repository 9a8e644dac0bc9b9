package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// ServedElsewhere returns those of some numbers that another organization has attached, in either direction. It implements porting.Trunks.
func (s *Service) ServedElsewhere(
	ctx context.Context, org callwright.OrgID, numbers []callwright.PhoneNumber,
) (elsewhere []callwright.PhoneNumber, err error) {
	holders, err := s.cfg.Store.Holders(ctx, numbers)
	for _, number := range numbers {
		if holder, held := holders[number]; held && holder != org {
			elsewhere = append(elsewhere, number)
		}
	}
	return elsewhere, err
}
