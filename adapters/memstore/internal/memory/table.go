package memory

// Table is a map that records the changes of a transaction, so that a rollback costs no more than the changes. A copy of the
// map would cost as much as all that is stored. The Clone of Data calls Begin, and its Undo calls Undo of its tables.
type Table[K comparable, V any] struct {
	rows    map[K]V
	changed map[K]*V // the former values of rows changed since Begin; nil: there was no row
}

// NewTable returns an empty table.
func NewTable[K comparable, V any]() *Table[K, V] {
	return &Table[K, V]{rows: map[K]V{}, changed: map[K]*V{}}
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
