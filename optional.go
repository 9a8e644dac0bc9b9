package callwright

// Optional is one member of a change. If Set is false, the member stays unchanged. If Set is true, the member becomes *Value, or its zero
// value if Value is nil.
type Optional[T any] struct {
	Set   bool
	Value *T
}

// Given returns an Optional that sets a member to value.
func Given[T any](value T) Optional[T] { return Optional[T]{Set: true, Value: &value} }

// Cleared returns an Optional that clears a member.
func Cleared[T any]() Optional[T] { return Optional[T]{Set: true} }

// OrZero returns the value, or T's zero value if Value is nil.
func (o Optional[T]) OrZero() T {
	if o.Value == nil {
		return *new(T)
	}
	return *o.Value
}

// Apply assigns the result of OrZero to *to if o.Set is true, and otherwise leaves *to unchanged.
func (o Optional[T]) Apply(to *T) {
	if o.Set {
		*to = o.OrZero()
	}
}
