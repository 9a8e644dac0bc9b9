package casefile

import (
	"errors"
	"reflect"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// leftOut is the name of the fact that says what is not told.
const leftOut = "left_out"

// facts is what is known of something, by name.
type facts map[string]any

// put adds a fact, unless it says nothing.
func (f facts) put(name string, value any) {
	if v := reflect.ValueOf(value); v.IsValid() && !v.IsZero() {
		f[name] = value
	}
}

// at adds a time, unless there is none.
func (f facts) at(name string, t *time.Time) {
	if t != nil && !t.IsZero() {
		f[name] = stamp(*t)
	}
}

// stamp is a time as programs read it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// spell is a time as people read it.
func spell(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") }

// find asks one by one for items and leaves out those that are absent.
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
