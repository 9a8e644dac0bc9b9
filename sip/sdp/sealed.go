package sdp

// sealed hides a value in an unexported field from fmt, which cannot call the value's methods there. fmt follows one pointer, but not a
// second one.
type sealed[T any] struct{ pointer **T }

func seal[T any](value *T) sealed[T] { return sealed[T]{pointer: &value} }

// open returns the value, or nil if none was sealed.
func (s sealed[T]) open() *T {
	if s.pointer == nil {
		return nil
	}
	return *s.pointer
}
