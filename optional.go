package callwright

// Optional is one member of a change. Without Set the member stays unchanged; with Set, it becomes Value, or is cleared if Value is
// nil.
type Optional[T any] struct {
	Set   bool
	Value *T
}

// Given returns an Optional that sets a member to value.
func Given[T any](value T) Optional[T] { return Optional[T]{Set: true, Value: &value} }

// Cleared returns an Optional that clears a member.
func Cleared[T any]() Optional[T] { return Optional[T]{Set: true} }

// OrZero returns the value, or T's zero value without one.
func (o Optional[T]) OrZero() T {
	if o.Value == nil {
		return *new(T)
	}
	return *o.Value
}

// Apply changes a value: it sets the value or T's zero value, or changes nothing.
func (o Optional[T]) Apply(to *T) {
	if o.Set {
		*to = o.OrZero()
	}
}
