package callwright

import "strings"

// FieldErrors lists the errors of one input. errors.As finds the first error, so CodeOf returns the code of the first.
type FieldErrors []*Error

// Error returns the texts of all errors, each on its own line.
func (f FieldErrors) Error() string {
	lines := make([]string, len(f))
	for i, e := range f {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors of the list for errors.Is and errors.As.
func (f FieldErrors) Unwrap() []error {
	all := make([]error, len(f))
	for i, e := range f {
		all[i] = e
	}
	return all
}

// OrNil returns the list as an error, or nil if the list is empty.
func (f FieldErrors) OrNil() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Within returns copies of all errors with path as the prefix of their fields. A dot separates path from the original field, unless that is
// empty.
func (f FieldErrors) Within(path string) FieldErrors {
	out := make(FieldErrors, len(f))
	for i, e := range f {
		c := *e
		if c.Field = path; e.Field != "" {
			c.Field = path + "." + e.Field
		}
		out[i] = &c
	}
	return out
}
