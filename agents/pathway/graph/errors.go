package graph

import (
	"strconv"

	"github.com/callwright/callwright"
)

// maxErrors bounds the number of errors that are reported for one document.
const maxErrors = 100

// errorList collects the errors of a document.
type errorList struct{ all callwright.FieldErrors }

// addf adds an error at the given path, unless an error at this path was added before. Instead of the first error beyond maxErrors, it adds
// a note that there are more errors.
func (l *errorList) addf(path, format string, args ...any) {
	for _, known := range l.all {
		if known.Field == path {
			return
		}
	}
	switch len(l.all) {
	case maxErrors:
		l.all = append(l.all, callwright.Invalid("", "the pathway has more errors: only the first %d are listed", maxErrors))
	case maxErrors + 1:
	default:
		l.all = append(l.all, callwright.Invalid(path, format, args...))
	}
}

// Entry returns the path of an entry of a list, for example "nodes[3]".
func Entry(list string, i int) string {
	var room [64]byte
	path := append(append(room[:0], list...), '[')
	return string(append(strconv.AppendInt(path, int64(i), 10), ']'))
}
