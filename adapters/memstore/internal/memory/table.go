package memory

import (
	"cmp"
	"math"
	"slices"

	"github.com/callwright/callwright"
)

// Tables are the tables of the data of a package, which embeds them. They record the changes of a transaction, so that a rollback costs
// no more than the changes. A copy of the maps would cost as much as all that is stored.
type Tables struct{ all []undoLog }

// undoLog is a table of any rows.
type undoLog interface {
	Begin()
	Undo()
}

// Begin begins a transaction.
func (t *Tables) Begin() {
	for _, one := range t.all {
		one.Begin()
	}
}

// Undo undoes all changes since Begin.
func (t *Tables) Undo() {
	for _, one := range t.all {
		one.Undo()
	}
}

// Table is a map that records its changes.
type Table[K comparable, V any] struct {
	rows    map[K]V
	changed map[K]*V // the former values of rows changed since Begin; nil: there was no row
}

// NewTable adds an empty table to the tables of a package.
func NewTable[K comparable, V any](tables *Tables) *Table[K, V] {
	t := &Table[K, V]{rows: map[K]V{}, changed: map[K]*V{}}
	tables.all = append(tables.all, t)
	return t
}

// Rows returns all rows, which only the methods change.
func (t *Table[K, V]) Rows() map[K]V { return t.rows }

// Set adds or replaces a row.
func (t *Table[K, V]) Set(key K, row V) {
	t.note(key)
	t.rows[key] = row
}

// Delete deletes a row.
func (t *Table[K, V]) Delete(key K) {
	t.note(key)
	delete(t.rows, key)
}

// DeleteWhere deletes the rows for which a condition holds. It returns no error.
func (t *Table[K, V]) DeleteWhere(condition func(V) bool) error {
	_, err := t.DeleteUpTo(math.MaxInt, condition)
	return err
}

// DeleteUpTo deletes up to limit of the rows for which a condition holds, and returns their number. It returns no error.
func (t *Table[K, V]) DeleteUpTo(limit int, condition func(V) bool) (deleted int, _ error) {
	for key, row := range t.rows {
		if deleted < limit && condition(row) {
			t.Delete(key)
			deleted++
		}
	}
	return deleted, nil
}

// Count returns the number of rows for which a condition holds. It returns no error.
func (t *Table[K, V]) Count(condition func(V) bool) (count int, _ error) {
	for _, row := range t.rows {
		if condition(row) {
			count++
		}
	}
	return count, nil
}

// Select returns copies of up to limit of the rows for which a condition holds, in an order.
func (t *Table[K, V]) Select(limit int, order func(a, b V) int, condition func(V) bool) (found []V) {
	for _, row := range t.rows {
		if condition(row) {
			found = append(found, row)
		}
	}
	slices.SortFunc(found, order)
	return Clone(found[:min(limit, len(found))])
}

// Page returns copies of up to limit of the rows for which a condition holds, by their places, descending: those after a keyset.
func (t *Table[K, V]) Page(after callwright.Keyset, limit int, place func(V) callwright.Keyset, condition func(V) bool) []V {
	return t.Select(limit, func(a, b V) int { return Compare(place(b), place(a)) }, func(row V) bool {
		return condition(row) && (after.IsZero() || Compare(place(row), after) < 0)
	})
}

// Compare orders places.
func Compare(a, b callwright.Keyset) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) }

// note records the value of a row before its first change.
func (t *Table[K, V]) note(key K) {
	if _, known := t.changed[key]; known {
		return
	}
	t.changed[key] = nil
	if row, ok := t.rows[key]; ok {
		t.changed[key] = &row
	}
}

// Begin begins a transaction.
func (t *Table[K, V]) Begin() { clear(t.changed) }

// Undo undoes all changes since Begin.
func (t *Table[K, V]) Undo() {
	for key, row := range t.changed {
		if row == nil {
			delete(t.rows, key)
		} else {
			t.rows[key] = *row
		}
	}
	clear(t.changed)
}
