package memory

import (
	"reflect"
	"sync"
)

// Clone returns a copy of v that shares no slice, map or pointer with it, unexported fields of structs such as time.Time
// apart, which are never changed.
func Clone[T any](v T) T {
	part(reflect.ValueOf(&v).Elem())
	return v
}

// flats records for types whether they hold no memory that a copy would share.
var flats sync.Map

// sharesNoMemory reports whether the copies of a type share no memory, unexported fields apart.
func sharesNoMemory(t reflect.Type) bool {
	if known, ok := flats.Load(t); ok {
		return known == true
	}
	is := t.Kind() <= reflect.Complex128 || t.Kind() == reflect.String
	switch t.Kind() {
	case reflect.Array:
		is = sharesNoMemory(t.Elem())
	case reflect.Struct:
		is = true
		for f := range t.Fields() {
			is = is && (!f.IsExported() || sharesNoMemory(f.Type))
		}
	default:
	}
	flats.Store(t, is)
	return is
}

// part replaces the parts of v that other values share by copies. v is settable.
func part(v reflect.Value) {
	if sharesNoMemory(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			v.Set(copied(v.Elem()).Addr())
		}
	case reflect.Interface:
		if !v.IsNil() && !sharesNoMemory(v.Elem().Type()) {
			v.Set(copied(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(out, v)
			v.Set(out)
			partElements(v)
		}
	case reflect.Array:
		partElements(v)
	case reflect.Map:
		if !v.IsNil() {
			v.Set(copiedMap(v))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				part(v.Field(i))
			}
		}
	default:
	}
}

// partElements parts the elements of a slice or an array.
func partElements(v reflect.Value) {
	if sharesNoMemory(v.Type().Elem()) { // such as bytes, of which there may be many
		return
	}
	for i := range v.Len() {
		part(v.Index(i))
	}
}

// copied returns a copy of v that can be set.
func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	part(out)
	return out
}

// copiedMap returns a copy of a map.
func copiedMap(v reflect.Value) reflect.Value {
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	value := reflect.New(v.Type().Elem()).Elem()
	for pairs := v.MapRange(); pairs.Next(); {
		value.SetIterValue(pairs)
		part(value)
		out.SetMapIndex(pairs.Key(), value)
	}
	return out
}
