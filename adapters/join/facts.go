package join

import (
	"errors"
	"reflect"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// leftOut is the name of the fact that describes what the evidence omits.
const leftOut = "left_out"

// facts contains the facts of evidence, by name.
type facts map[string]any

// add adds a fact, unless its value is the zero value.
func (f facts) add(name string, value any) {
	if v := reflect.ValueOf(value); v.IsValid() && !v.IsZero() {
		f[name] = value
	}
}

// at adds a time in the format of stamp, unless it is nil or zero.
func (f facts) at(name string, t *time.Time) {
	if t != nil && !t.IsZero() {
		f[name] = stamp(*t)
	}
}

// stamp formats a time for programs, in ISO 8601 with milliseconds and in UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// formatTime formats a time for people, in UTC.
func formatTime(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") }

// find calls the given function for each id, and returns its items by id. It omits items for which the function returns CodeNotFound, and
// stops at any other error.
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
