package memory

import (
	"cmp"
	"math"
	"slices"

	"github.com/callwright/callwright"
)

// Tables lists the tables of a package's data, which embeds it. The tables record the changes of a transaction, so that a rollback costs no
// more than the changes. Copying the maps would instead take time proportional to the number of all stored rows.
type Tables struct{ all []undoLog }

// undoLog is a Table of any type. Undo restores the rows as they were at Begin.
type undoLog interface {
	Begin()
	Undo()
}

// Begin discards the record of former changes in every table, so that Undo returns to this state.
func (t *Tables) Begin() {
	for _, one := range t.all {
		one.Begin()
	}
}

// Undo undoes the changes of every table since Begin.
func (t *Tables) Undo() {
	for _, one := range t.all {
		one.Undo()
	}
}

// Table is a map that records its changes since Begin, so that Undo can restore its rows.
type Table[K comparable, V any] struct {
	rows    map[K]V
	changed map[K]*V // former values of the rows changed since Begin, nil if the row was absent
}

// NewTable adds an empty table to the tables of a package.
func NewTable[K comparable, V any](tables *Tables) *Table[K, V] {
	t := &Table[K, V]{rows: map[K]V{}, changed: map[K]*V{}}
	tables.all = append(tables.all, t)
	return t
}

// Rows returns the map of all rows itself. Callers must not change it except by the methods of t.
func (t *Table[K, V]) Rows() map[K]V { return t.rows }

// Set adds or replaces a row. It stores row without a copy.
func (t *Table[K, V]) Set(key K, row V) {
	t.note(key)
	t.rows[key] = row
}

// Delete deletes the row with the key, if it is stored.
func (t *Table[K, V]) Delete(key K) {
	t.note(key)
	delete(t.rows, key)
}

// DeleteWhere deletes the rows that meet the condition. The returned error is always nil.
func (t *Table[K, V]) DeleteWhere(condition func(V) bool) error {
	_, err := t.DeleteUpTo(math.MaxInt, condition)
	return err
}

// DeleteUpTo deletes up to limit rows that meet the condition, in no particular order, and returns their number. The returned error is
// always nil.
func (t *Table[K, V]) DeleteUpTo(limit int, condition func(V) bool) (deleted int, _ error) {
	for key, row := range t.rows {
		if deleted < limit && condition(row) {
			t.Delete(key)
			deleted++
		}
	}
	return deleted, nil
}

// Count returns the number of rows that meet the condition. The returned error is always nil.
func (t *Table[K, V]) Count(condition func(V) bool) (count int, _ error) {
	for _, row := range t.rows {
		if condition(row) {
			count++
		}
	}
	return count, nil
}

// Select returns copies of the first rows, in the given order, that meet the condition. It returns at most limit rows.
func (t *Table[K, V]) Select(limit int, order func(a, b V) int, condition func(V) bool) (found []V) {
	for _, row := range t.rows {
		if condition(row) {
			found = append(found, row)
		}
	}
	slices.SortFunc(found, order)
	return Clone(found[:min(limit, len(found))])
}

// Page returns copies of the rows that meet the condition, in descending order of their places. It starts behind the keyset after, or at
// the beginning if after is zero, and returns at most limit rows.
func (t *Table[K, V]) Page(after callwright.Keyset, limit int, place func(V) callwright.Keyset, condition func(V) bool) []V {
	return t.Select(limit, func(a, b V) int { return Compare(place(b), place(a)) }, func(row V) bool {
		return condition(row) && (after.IsZero() || Compare(place(row), after) < 0)
	})
}

// Compare orders keysets by time and then by ID, both ascending.
func Compare(a, b callwright.Keyset) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) }

// note records a row as it is before its first change since Begin.
func (t *Table[K, V]) note(key K) {
	if _, known := t.changed[key]; known {
		return
	}
	t.changed[key] = nil
	if row, ok := t.rows[key]; ok {
		t.changed[key] = &row
	}
}

// Begin discards the record of former changes, so that Undo returns to this state.
func (t *Table[K, V]) Begin() { clear(t.changed) }

// Undo restores the rows as they were at Begin.
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
