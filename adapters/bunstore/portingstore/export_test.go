package portingstore

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/porting"
)

// RequestDocument returns the JSON that the store seals for a request.
func RequestDocument(r porting.Request) ([]byte, error) {
	return json.MarshalIndent(map[string]any{"request": newRequestJSON(r)}, "", "  ")
}

// FillRequests stores many requests, 500 in a transaction.
func (s Requests) FillRequests(ctx context.Context, requests []porting.Request) error {
	for chunk := range slices.Chunk(requests, 500) {
		rows, err := sqldb.ConvertedAll(chunk, s.core().requestRow)
		if err != nil {
			return err
		}
		var numbers []openNumberRow
		for _, r := range chunk {
			for _, n := range r.Numbers {
				if !r.State.Ended() {
					numbers = append(numbers, openNumberRow{Number: string(n.Number), Request: r.ID})
				}
			}
		}
		err = s.DB.Do(ctx, func(ctx context.Context) error {
			return errors.Join(s.core().Insert(ctx, nil, &rows), s.core().Insert(ctx, nil, &numbers))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
