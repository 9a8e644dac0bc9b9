package callwrighttest

import (
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

// FilledFrom is the time from which Filled counts its times.
var FilledFrom = time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)

// Filled returns a value without zero fields, at any depth, so that RunRows detects a store that loses a field. Its texts, numbers and
// times differ from each other, and from the texts, numbers and times of values with other numbers, as far as their types allow. number is
// from 0 to 9. A greater number results in later times.
func Filled[T any](t *testing.T, number int) T {
	t.Helper()
	var value T
	const most = 1000 // maximum number of fields of a value
	f := filler{t: t, count: int64(number) * most}
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
		v.Set(reflect.ValueOf(FilledFrom.Add(time.Duration(f.count) * time.Second)))
		return
	case netip.AddrPort:
		v.Set(reflect.ValueOf(netip.AddrPortFrom(netip.IPv6Loopback(), uint16(f.count))))
		return
	case netip.Addr:
		v.Set(reflect.ValueOf(netip.AddrFrom4([4]byte{192, 0, byte(f.count / 256), byte(f.count)})))
		return
	case netip.Prefix:
		address := netip.AddrFrom4([4]byte{10, byte(f.count / 256), byte(f.count), 0})
		v.Set(reflect.ValueOf(netip.PrefixFrom(address, 24)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("it's \u2603 %05d", f.count))
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
