package memory

import "github.com/callwright/callwright"

// Rows is a table of values that know their place in it. Values are copied on their way in and out. The methods have the same names
// as in sqldb.Rows of bunstore.
type Rows[K comparable, V any] struct {
	*Table[K, V]
	kind  string
	place Place[K, V]
}

// Place returns the organization and key of a value, and its version for Replace to compare; nil: values have none.
type Place[K comparable, V any] func(v *V) (org callwright.OrgID, key K, version *int64)

// NewRows adds an empty table to the tables of a package. kind names a value in errors.
func NewRows[K comparable, V any](tables *Tables, kind string, place Place[K, V]) *Rows[K, V] {
	return &Rows[K, V]{NewTable[K, V](tables), kind, place}
}

// Insert adds a value with version 1. It returns CodeConflict if its key is taken.
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

// Replace replaces the value with the key, organization and version of v, and adds one to the version. It returns CodeConflict if the
// stored version differs, CodeNotFound if the organization has no such value.
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

// Check returns the error of Replace.
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

// Stored returns the value of an organization with a key, which is not to be changed, without a copy; CodeNotFound without one.
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

// Absent returns CodeNotFound.
func (r *Rows[K, V]) Absent() error { return callwright.NotFound(r.kind) }

// Find returns a copy of the value of an organization with a key; CodeNotFound without one.
func (r *Rows[K, V]) Find(org callwright.OrgID, key K) (V, error) {
	v, err := r.Stored(org, key)
	return Clone(v), err
}

// First returns a copy of the first value, in an order, for which a condition holds; CodeNotFound without one.
func (r *Rows[K, V]) First(order func(a, b V) int, condition func(V) bool) (V, error) {
	if found := r.Select(1, order, condition); len(found) > 0 {
		return found[0], nil
	}
	var none V
	return none, callwright.NotFound(r.kind)
}

// Delete deletes the value of an organization with a key, if there is one. It returns no error.
func (r *Rows[K, V]) Delete(org callwright.OrgID, key K) error {
	if _, err := r.Stored(org, key); err == nil {
		r.Table.Delete(key)
	}
	return nil
}

// Exists returns nil if the organization has a value with a key, otherwise CodeNotFound.
func (r *Rows[K, V]) Exists(org callwright.OrgID, key K) error {
	_, err := r.Stored(org, key)
	return err
}

// DeleteExisting deletes the value of an organization with a key; CodeNotFound without one.
func (r *Rows[K, V]) DeleteExisting(org callwright.OrgID, key K) error {
	if err := r.Exists(org, key); err != nil {
		return err
	}
	return r.Delete(org, key)
}
