package agentstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents/call"
)

// callHourRow counts the calls that were created in an hour. Triggers on the table of calls write it.
type callHourRow struct {
	bun.BaseModel `bun:"table:call_hours"`

	Org      string    `bun:"org,pk"`
	Hour     time.Time `bun:"hour,pk"`
	Calls    int       `bun:"calls"`
	Ended    int       `bun:"ended"`
	Answered int       `bun:"answered"`
}

// Hours returns the counts of calls for each hour that begins at or after the first given time and before the second, oldest first. It
// omits hours without calls.
func (s Calls) Hours(ctx context.Context, org callwright.OrgID, since, before time.Time) ([]call.Hour, error) {
	var rows []callHourRow
	err := s.core().Read(ctx, []any{org, since, before}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Where("org = ?", org).Where("hour >= ?", sqldb.Stored(since)).
			Where("hour < ?", sqldb.Stored(before)).Order("hour").Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	var hours []call.Hour
	for _, r := range rows {
		hours = append(hours, call.Hour{Start: sqldb.Stored(r.Hour), Tally: call.Tally{Calls: r.Calls, Ended: r.Ended, Answered: r.Answered}})
	}
	return hours, nil
}
