package memory

import (
	"reflect"
	"sync"
)

// Clone returns a copy of v that shares no slice, map or pointer with it, unexported fields of structs such as time.Time
// apart, which nobody changes.
func Clone[T any](v T) T {
	c, _ := reflect.TypeAssert[T](cloneValue(reflect.ValueOf(&v).Elem()))
	return c
}

// flats says of types whether they hold no memory that a copy would share.
var flats sync.Map

// flat reports whether the copies of a type share no memory, unexported fields apart.
func flat(t reflect.Type) bool {
	if known, ok := flats.Load(t); ok {
		return known == true
	}
	is := t.Kind() <= reflect.Complex128 || t.Kind() == reflect.String
	switch t.Kind() {
	case reflect.Array:
		is = flat(t.Elem())
	case reflect.Struct:
		is = true
		for f := range t.Fields() {
			is = is && (!f.IsExported() || flat(f.Type))
		}
	default:
	}
	flats.Store(t, is)
	return is
}

func cloneValue(v reflect.Value) reflect.Value {
	if flat(v.Type()) {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(cloneValue(v.Elem()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(cloneValue(v.Elem()))
		}
	case reflect.Slice:
		switch {
		case v.IsNil():
		case flat(v.Type().Elem()): // such as bytes, of which there may be many
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			reflect.Copy(out, v)
		default:
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(cloneValue(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for pairs := v.MapRange(); pairs.Next(); {
				out.SetMapIndex(pairs.Key(), cloneValue(pairs.Value()))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !flat(f.Type) {
				out.Field(i).Set(cloneValue(v.Field(i)))
			}
		}
	default:
	}
	return out
}
