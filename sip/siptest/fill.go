package siptest

import (
	"net/netip"
	"reflect"
	"strconv"
	"testing"
	"time"
)

// filled returns a value without zero fields, down to the last element, which detects a store that loses a field. Its texts,
// numbers and times all differ, as far as their types allow.
func filled[T any](t *testing.T) T {
	t.Helper()
	var value T
	f := filler{t: t}
	f.fill(reflect.ValueOf(&value).Elem())
	return value
}

type filler struct {
	t     *testing.T
	count int64
}

func (f *filler) fill(v reflect.Value) {
	f.count++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(at.Add(time.Duration(f.count) * time.Second)))
		return
	case netip.AddrPort:
		v.Set(reflect.ValueOf(netip.AddrPortFrom(netip.IPv6Loopback(), uint16(f.count))))
		return
	case netip.Addr:
		v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{192, 0, 2, byte(f.count)})))
		return
	case netip.Prefix:
		address := netip.AddrFrom4([4]byte{192, 0, byte(f.count), 0})
		v.Set(reflect.ValueOf(netip.PrefixFrom(address, 24)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("it's \u2603 " + strconv.FormatInt(f.count, 10))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(f.count)
	case reflect.Uint16, reflect.Uint32:
		v.SetUint(uint64(f.count))
	case reflect.Float64:
		v.SetFloat(float64(f.count) + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key)
			f.fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			f.fill(field)
		}
	default:
		f.t.Fatalf("no way to fill a %s", v.Type())
	}
}
