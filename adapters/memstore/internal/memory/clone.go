package memory

import "reflect"

// Clone returns a copy of v that shares no slice, map or pointer with it, unexported fields of structs such as time.Time
// apart, which nobody changes.
func Clone[T any](v T) T {
	c, _ := reflect.TypeAssert[T](cloneValue(reflect.ValueOf(&v).Elem()))
	return c
}

func cloneValue(v reflect.Value) reflect.Value {
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
		case v.Type().Elem().Kind() <= reflect.Complex128: // such as bytes, of which there may be many
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
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(cloneValue(v.Field(i)))
			}
		}
	default:
	}
	return out
}
