package callwright

import (
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Runtime holds the ports that every service needs: a clock, a generator of identifiers and a logger. A Config embeds it, and a program
// passes one Runtime to all of its services. The zero value selects the defaults.
type Runtime struct {
	Clock  Clock        // nil means SystemClock
	IDs    IDs          // nil means UUIDs
	Logger *slog.Logger // nil discards all lines
}

// WithDefaults returns a copy of r with a default for each nil field.
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

// PrepareConfig sets the defaults of the Runtime that a configuration embeds. It returns an error that names every required field that is
// zero or an empty slice. Tags mark the required fields:
//
//	Records Store   `required:"always"`
//	Hooks   URLs    `required:"with Notifier"`  // if Notifier is set
//	Speech  Speaker `required:"without Voices"` // if Voices is not set
func PrepareConfig[C any](c *C) error {
	config := reflect.ValueOf(c).Elem()
	name := config.Type().Name() + "."
	missing := map[string][]string{} // names of fields, by condition
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

// empty reports whether a field of a configuration is zero or an empty slice.
func empty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}
