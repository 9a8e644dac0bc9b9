package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Tally counts calls.
type Tally struct {
	Calls    int
	Ended    int // how many of Calls have ended
	Answered int // how many of Ended were answered, by a person or a machine
}

// Hour counts the calls that were created within an hour.
type Hour struct {
	Start time.Time // full hour in UTC
	Tally
}

// MaxHours is the maximum count of Service.Hours.
const MaxHours = 48

// Hours returns the tallies of the given number of hours, the oldest first, up to and including the current hour. It includes hours without
// calls. count must be from 1 to MaxHours.
func (s *Service) Hours(ctx context.Context, org callwright.OrgID, count int) ([]Hour, error) {
	if count < 1 || count > MaxHours {
		return nil, callwright.Invalid("count", "must be from 1 to %d", MaxHours)
	}
	hours := make([]Hour, count)
	end := s.cfg.Clock.Now().UTC().Truncate(time.Hour).Add(time.Hour)
	start := end.Add(-time.Duration(count) * time.Hour)
	for i := range hours {
		hours[i].Start = start.Add(time.Duration(i) * time.Hour)
	}
	counted, err := s.cfg.Store.Hours(ctx, org, start, end)
	if err != nil {
		return nil, err
	}
	for _, h := range counted {
		hours[h.Start.Sub(start)/time.Hour].Tally = h.Tally
	}
	return hours, nil
}
