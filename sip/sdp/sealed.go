package sdp

// sealed hides a value from fmt in unexported fields, where fmt cannot call the value's methods. There fmt follows one
// pointer, but not a second one.
type sealed[T any] struct{ pointer **T }

func seal[T any](value *T) sealed[T] { return sealed[T]{pointer: &value} }

// open returns the value; nil without one.
func (s sealed[T]) open() *T {
	if s.pointer == nil {
		return nil
	}
	return *s.pointer
}
