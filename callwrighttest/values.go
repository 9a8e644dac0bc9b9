package callwrighttest

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/callwright/callwright"
)

// Full fails the test if v or one of its fields is zero or unexported. It also checks the fields of nested structs, pointers to structs,
// and slices and maps of structs, but not inside a value that implements encoding.TextMarshaler.
func Full(t *testing.T, v any) {
	t.Helper()
	checkFull(t, reflect.TypeOf(v).Name(), reflect.ValueOf(v))
}

func checkFull(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	if v.IsZero() {
		t.Fatalf("the test has no value for %s", name)
	}
	switch _, writesItself := reflect.TypeAssert[encoding.TextMarshaler](v); {
	case writesItself: // such as a time.Time or netip.Prefix, which is a single value
	case v.Kind() == reflect.Pointer:
		if v.Elem().Kind() == reflect.Struct {
			checkFull(t, name, v.Elem())
		}
	case v.Kind() == reflect.Struct:
		for field, value := range v.Fields() {
			if !field.IsExported() {
				t.Fatalf("%s.%s is unexported: no store can keep it", name, field.Name)
			}
			checkFull(t, name+"."+field.Name, value)
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			checkFull(t, fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	case v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Struct:
		for pairs := v.MapRange(); pairs.Next(); {
			checkFull(t, name+"["+pairs.Key().String()+"]", pairs.Value())
		}
	}
}

// Spoil overwrites all memory that is reachable from v, a pointer. If a store shares this memory, it then returns other values.
func Spoil(v any) { spoilValue(reflect.ValueOf(v).Elem()) }

func spoilValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			spoilValue(v.Elem())
		}
	case reflect.Struct:
		if v.NumField() > 0 && !v.Field(0).CanSet() { // an opaque value such as time.Time or netip.Prefix
			v.SetZero()
			return
		}
		for _, field := range v.Fields() {
			if field.CanSet() {
				spoilValue(field)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoilValue(v.Index(i))
		}
	case reflect.Map:
		for pairs := v.MapRange(); pairs.Next(); {
			inner := reflect.New(v.Type().Elem()).Elem()
			inner.Set(pairs.Value())
			spoilValue(inner)
			v.SetMapIndex(pairs.Key(), inner)
		}
	case reflect.Interface:
		if inner := v.Elem(); inner.Kind() == reflect.Map || inner.Kind() == reflect.Slice {
			spoilValue(inner) // a map or a slice shares its memory with v
			return
		}
		v.SetZero()
	default:
		v.SetZero()
	}
}

// Race calls write from several goroutines concurrently. It checks that exactly one call succeeds and the others return CodeConflict, and
// returns the number of the successful writer.
func Race(t *testing.T, write func(writer int) error) int {
	t.Helper()
	const writers = 8
	winners := make(chan int, writers)
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			switch err := write(i); {
			case err == nil:
				winners <- i
			case !errors.Is(err, callwright.ErrConflict):
				t.Errorf("a writer got %v", err)
			}
		})
	}
	wait.Wait()
	if len(winners) != 1 {
		t.Fatalf("%d writers won", len(winners))
	}
	return <-winners
}
