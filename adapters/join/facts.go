package join

import (
	"errors"
	"reflect"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// leftOut is the name of the fact that lists omissions of the evidence.
const leftOut = "left_out"

// facts holds evidence by name.
type facts map[string]any

// add adds a fact, unless its value is the zero value.
func (f facts) add(name string, value any) {
	if v := reflect.ValueOf(value); v.IsValid() && !v.IsZero() {
		f[name] = value
	}
}

// at adds a time, unless it is nil or zero.
func (f facts) at(name string, t *time.Time) {
	if t != nil && !t.IsZero() {
		f[name] = stamp(*t)
	}
}

// stamp formats a time for programs: ISO 8601 with milliseconds, UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// formatTime formats a time, human-readable.
func formatTime(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") }

// find resolves items one by one and leaves out the absent ones.
func find(ids []string, one func(id string) (triage.Item, error)) (map[string]triage.Item, error) {
	found := make(map[string]triage.Item, len(ids))
	for _, id := range ids {
		switch item, err := one(id); {
		case err == nil:
			found[id] = item
		case !errors.Is(err, callwright.ErrNotFound):
			return nil, err
		}
	}
	return found, nil
}
