package sdp

// sealed keeps a value from being printed out of somebody's unexported field, where fmt cannot call its methods. fmt
// follows one pointer there (a nested one too, under a verb that does not fit it), but not a second.
type sealed[T any] struct{ pointer **T }

func seal[T any](value *T) sealed[T] { return sealed[T]{pointer: &value} }

// open is the value, nil when there is none.
func (s sealed[T]) open() *T {
	if s.pointer == nil {
		return nil
	}
	return *s.pointer
}
