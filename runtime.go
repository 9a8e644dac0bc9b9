package callwright

import (
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Runtime holds the ports that every service needs: the time, identifiers and a log. A Config embeds it, and a program passes one
// Runtime to all of its services. The zero value means the defaults.
type Runtime struct {
	Clock  Clock        // nil: SystemClock
	IDs    IDs          // nil: UUIDs
	Logger *slog.Logger // nil: discards
}

// WithDefaults returns r with the defaults in place of its nil fields.
func (r Runtime) WithDefaults() Runtime {
	if r.Clock == nil {
		r.Clock = SystemClock{}
	}
	if r.IDs == nil {
		r.IDs = new(UUIDs)
	}
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
	return r
}

// PrepareConfig sets the defaults of the Runtime that a configuration embeds, and returns an error that names every required field
// that is zero or empty. Tags mark the required fields:
//
//	Records Store   `required:"always"`
//	Hooks   URLs    `required:"with Notifier"`  // if Notifier is set
//	Speech  Speaker `required:"without Voices"` // if Voices is not set
func PrepareConfig[C any](c *C) error {
	config := reflect.ValueOf(c).Elem()
	name := config.Type().Name() + "."
	missing := map[string][]string{} // by the condition
	for field, value := range config.Fields() {
		if field.Type == reflect.TypeFor[Runtime]() {
			value.Set(reflect.ValueOf(value.Interface().(Runtime).WithDefaults()))
		}
		when, other, conditional := strings.Cut(field.Tag.Get("required"), " ")
		switch {
		case when == "" || !empty(value):
		case !conditional:
			missing[""] = append(missing[""], name+field.Name)
		case empty(config.FieldByName(other)) == (when == "without"):
			when = " " + when + " " + name + other
			missing[when] = append(missing[when], name+field.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var faults []string
	for _, when := range slices.Sorted(maps.Keys(missing)) {
		names, verb := missing[when], " is required"
		if last := len(names) - 1; last > 0 {
			names, verb = []string{strings.Join(names[:last], ", "), names[last]}, " are required"
		}
		faults = append(faults, strings.Join(names, " and ")+verb+when)
	}
	packageName, _, _ := strings.Cut(config.Type().String(), ".")
	return errors.New(packageName + ": " + strings.Join(faults, "; "))
}

// empty reports whether a field of a configuration is not set.
func empty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}
