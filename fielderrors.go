package callwright

import "strings"

// FieldErrors are several things that are wrong with one input. errors.As and errors.Is see the first of them, whose code is
// that of all.
type FieldErrors []*Error

// Error gives all of them, a line each.
func (f FieldErrors) Error() string {
	lines := make([]string, len(f))
	for i, e := range f {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives them one by one.
func (f FieldErrors) Unwrap() []error {
	all := make([]error, len(f))
	for i, e := range f {
		all[i] = e
	}
	return all
}

// OrNil is nil when there are none, so that a list of faults can be returned as an error.
func (f FieldErrors) OrNil() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Within puts a path before that of every fault.
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
