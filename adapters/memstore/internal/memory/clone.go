package memory

import (
	"reflect"
	"sync"
)

// Clone returns a copy of v that shares no slice, map or pointer with v. It does not follow unexported fields of structs such as time.Time,
// because the stores never change them.
func Clone[T any](v T) T {
	part(reflect.ValueOf(&v).Elem())
	return v
}

// flats caches the results of sharesNoMemory by reflect.Type.
var flats sync.Map

// sharesNoMemory reports whether plain copies of a type share no memory. It ignores unexported fields.
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

// part replaces the slices, maps and pointers of v with copies, recursively. v must be settable.
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

// partElements calls part for each element of a slice or an array.
func partElements(v reflect.Value) {
	if sharesNoMemory(v.Type().Elem()) { // for example []byte, which may be long
		return
	}
	for i := range v.Len() {
		part(v.Index(i))
	}
}

// copied returns a deep copy of v that can be addressed and set.
func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	part(out)
	return out
}

// copiedMap returns a copy of a map with deep copies of its values. Its keys are not cloned.
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
