package call

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// Tally counts calls.
type Tally struct {
	Calls    int
	Ended    int // of them
	Answered int // of the ended calls, by a person, a machine, or either
}

// Hour counts the calls that were created in an hour.
type Hour struct {
	Start time.Time // UTC
	Tally
}

// MaxHours is the maximum of Hours.
const MaxHours = 48

// Hours returns the hours up to the current one, the oldest first, at most MaxHours.
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
