package httpapi

import (
	"errors"
	"fmt"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
)

// checkNames refuses JSON in which an object contains a member twice, because readers differ in which of them counts (RFC 8259, section 4).
// It accepts invalid JSON, which the decoder refuses.
func checkNames(text []byte) error {
	err := namesOf(jx.DecodeBytes(text), "")
	if twice, ok := errors.AsType[*callwright.Error](err); ok {
		return twice
	}
	return nil
}

// namesOf reads the next value of a decoder and returns an error for a duplicate member. path is the value's path in the error.
func namesOf(d *jx.Decoder, path string) error {
	switch d.Next() {
	case jx.Object:
		seen := map[string]bool{}
		return d.ObjBytes(func(d *jx.Decoder, text []byte) error {
			name := string(text)
			if seen[name] {
				return callwright.Invalid(wire.Join(path, name), "must be given only once")
			}
			seen[name] = true
			return namesOf(d, wire.Join(path, name))
		})
	case jx.Array:
		i := -1
		return d.Arr(func(d *jx.Decoder) error {
			if i++; d.Next() != jx.Object && d.Next() != jx.Array {
				return d.Skip()
			}
			return namesOf(d, fmt.Sprintf("%s[%d]", path, i))
		})
	default:
		return d.Skip()
	}
}
