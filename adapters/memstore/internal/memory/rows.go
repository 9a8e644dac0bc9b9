package memory

import "github.com/callwright/callwright"

// Rows is a table of values whose organization, key and version are fields of the value. Values are copied when they are stored and
// returned. The methods have the same names as in sqldb.Rows of bunstore.
type Rows[K comparable, V any] struct {
	*Table[K, V]
	kind  string
	place Place[K, V]
}

// Place returns the organization and key of a value, and the address of its version, which Replace compares. A nil version means that the
// values have no version.
type Place[K comparable, V any] func(v *V) (org callwright.OrgID, key K, version *int64)

// NewRows adds an empty table to the tables of a package. Errors use kind as the name of a value.
func NewRows[K comparable, V any](tables *Tables, kind string, place Place[K, V]) *Rows[K, V] {
	return &Rows[K, V]{NewTable[K, V](tables), kind, place}
}

// Insert adds a value and sets its version to 1. It returns CodeConflict if its key is already stored.
func (r *Rows[K, V]) Insert(v V) error {
	_, key, version := r.place(&v)
	if _, taken := r.rows[key]; taken {
		return callwright.ErrConflict
	}
	if version != nil {
		*version = 1
	}
	r.Set(key, Clone(v))
	return nil
}

// Replace replaces the stored value that has the key of v, and adds 1 to the version. It returns CodeConflict if the stored version
// differs, and CodeNotFound if the organization has no such value.
func (r *Rows[K, V]) Replace(v V) error {
	if err := r.Check(v); err != nil {
		return err
	}
	_, key, version := r.place(&v)
	if version != nil {
		*version++
	}
	r.Set(key, Clone(v))
	return nil
}

// Check returns the error that Replace would return, and changes nothing.
func (r *Rows[K, V]) Check(v V) error {
	org, key, version := r.place(&v)
	stored, err := r.Stored(org, key)
	if err != nil {
		return err
	}
	if _, _, now := r.place(&stored); version != nil && *now != *version {
		return callwright.ErrConflict
	}
	return nil
}

// Stored returns the stored value itself, not a copy. The caller must not change it. It returns CodeNotFound if the organization has no
// value with the key.
func (r *Rows[K, V]) Stored(org callwright.OrgID, key K) (v V, err error) {
	v, found := r.rows[key]
	if found {
		if owner, _, _ := r.place(&v); owner == org {
			return v, nil
		}
	}
	var none V
	return none, r.Absent()
}

// Absent returns the CodeNotFound error of the table's values.
func (r *Rows[K, V]) Absent() error { return callwright.NotFound(r.kind) }

// Find returns a copy of the stored value. It returns CodeNotFound if the organization has no value with the key.
func (r *Rows[K, V]) Find(org callwright.OrgID, key K) (V, error) {
	v, err := r.Stored(org, key)
	return Clone(v), err
}

// First returns a copy of the first value, in the given order, that meets the condition. It returns CodeNotFound if no value meets it.
func (r *Rows[K, V]) First(order func(a, b V) int, condition func(V) bool) (V, error) {
	if found := r.Select(1, order, condition); len(found) > 0 {
		return found[0], nil
	}
	var none V
	return none, callwright.NotFound(r.kind)
}

// Delete deletes the organization's value with the key, if it is stored. The returned error is always nil.
func (r *Rows[K, V]) Delete(org callwright.OrgID, key K) error {
	if _, err := r.Stored(org, key); err == nil {
		r.Table.Delete(key)
	}
	return nil
}

// Exists returns CodeNotFound if the organization has no value with the key.
func (r *Rows[K, V]) Exists(org callwright.OrgID, key K) error {
	_, err := r.Stored(org, key)
	return err
}

// DeleteExisting deletes the organization's value with the key, or returns CodeNotFound if it is not stored.
func (r *Rows[K, V]) DeleteExisting(org callwright.OrgID, key K) error {
	if err := r.Exists(org, key); err != nil {
		return err
	}
	return r.Delete(org, key)
}
