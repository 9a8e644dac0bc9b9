package memory_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// numbers is data with one table.
type numbers struct {
	*memory.Tables
	table *memory.Table[int, int]
}

func (numbers) New() numbers {
	t := &memory.Tables{}
	return numbers{t, memory.NewTable[int, int](t)}
}

// TestTable checks that a table equals a plain map after random changes in committed and failed transactions, and outside of transactions.
func TestTable(t *testing.T) {
	t.Parallel()
	errFails := errors.New("fails")
	rapid.Check(t, func(t *rapid.T) {
		store, want := memory.New(), map[int]int{}
		change := func(ctx context.Context) map[int]int {
			rows := maps.Clone(want)
			for range rapid.IntRange(0, 5).Draw(t, "changes") {
				key, row := rapid.IntRange(0, 3).Draw(t, "key"), rapid.IntRange(-1, 3).Draw(t, "row")
				_ = memory.With(ctx, store, func(n *numbers) error {
					if row < 0 {
						n.table.Delete(key)
						delete(rows, key)
					} else {
						n.table.Set(key, row)
						rows[key] = row
					}
					return nil
				})
			}
			return rows
		}
		for range rapid.IntRange(0, 10).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				want = change(t.Context())
			case 1:
				_ = store.Do(t.Context(), func(ctx context.Context) error { want = change(ctx); return nil })
			default:
				_ = store.Do(t.Context(), func(ctx context.Context) error { change(ctx); return errFails })
			}
			_ = memory.With(t.Context(), store, func(n *numbers) error {
				if !maps.Equal(n.table.Rows(), want) {
					t.Errorf("the rows are %v, want %v", n.table.Rows(), want)
				}
				return nil
			})
		}
	})
}
