package codec

import (
	"bytes"
	"math/bits"
	"time"

	"github.com/go-faster/errors"
	"github.com/go-faster/jx"
	"github.com/ogen-go/ogen/json"
	"github.com/ogen-go/ogen/validate"
)

// Object describes the members of a JSON object.
type Object struct {
	Type     string
	Members  []string // names, in the order of the contract
	Required []uint8  // bit i%8 of byte i/8 is set if member i is required
}

// MostMembers is the maximum number of members of an object.
const MostMembers = 128

// Decode reads an object. For each member, it calls the function member, which must read the value and return the member's index. If the
// index is -1, the member is unknown, and Decode does not add the member's name to the error. Decode returns an error for a nil receiver or
// an unreadable member, and a *validate.Error that names the absent required members.
func (o *Object) Decode(d *jx.Decoder, receiverIsNil bool, member func(d *jx.Decoder, key []byte) (int, error)) error {
	if receiverIsNil {
		return Nil(o.Type)
	}
	var seen [MostMembers / 8]uint8
	if err := d.ObjBytes(func(d *jx.Decoder, key []byte) error {
		i, err := member(d, key)
		if i < 0 {
			return err
		}
		seen[i/8] |= 1 << (i % 8)
		if err != nil {
			return errors.Wrap(err, "decode field \""+o.Members[i]+"\"")
		}
		return nil
	}); err != nil {
		return errors.Wrap(err, "decode "+o.Type)
	}
	for i, mask := range o.Required {
		if mask&^seen[i] != 0 {
			return o.missing(seen[:])
		}
	}
	return nil
}

// missing returns an error that names the required members that are not in seen.
func (o *Object) missing(seen []uint8) error {
	var failures Failures
	for i, mask := range o.Required {
		for missed := mask &^ seen[i]; missed != 0; missed &= missed - 1 {
			failures.Add(o.Members[i*8+bits.TrailingZeros8(missed)], validate.ErrFieldRequired)
		}
	}
	return failures.Err()
}

// Nil returns the error for decoding the named type into a nil receiver.
func Nil(name string) error {
	return errors.New("invalid: unable to decode " + name + " to nil")
}

// DecodeStr reads a string into a text type.
func DecodeStr[T ~string](d *jx.Decoder, to *T) error {
	v, err := d.Str()
	*to = T(v)
	return err
}

// DecodeInt reads an integer.
func DecodeInt(d *jx.Decoder, to *int) (err error) {
	*to, err = d.Int()
	return err
}

// DecodeBool reads a boolean.
func DecodeBool(d *jx.Decoder, to *bool) (err error) {
	*to, err = d.Bool()
	return err
}

// DecodeFloat reads a number.
func DecodeFloat(d *jx.Decoder, to *float64) (err error) {
	*to, err = d.Float64()
	return err
}

// DecodeRaw reads any value and copies its JSON text.
func DecodeRaw(d *jx.Decoder, to *jx.Raw) (err error) {
	*to, err = d.RawAppend(nil)
	return err
}

// DecodeTime reads a time in the given layout.
func DecodeTime(d *jx.Decoder, to *time.Time, layout string) (err error) {
	*to, err = json.DecodeTimeFormat(d, layout)
	return err
}

// DecodeEnum reads a text of an enumeration. It accepts unknown texts, which validation refuses.
func DecodeEnum[T ~string](d *jx.Decoder, to *T, known []T) error {
	text, err := d.StrBytes()
	if err != nil {
		return err
	}
	for _, value := range known {
		if string(value) == string(text) {
			*to = value
			return nil
		}
	}
	*to = T(text)
	return nil
}

// DecodeArr reads a list and replaces the earlier content of *to. The result is never nil.
func DecodeArr[T any](d *jx.Decoder, to *[]T, decode func(to *T, d *jx.Decoder) error) error {
	list := make([]T, 0)
	err := d.Arr(func(d *jx.Decoder) error {
		var zero T
		list = append(list, zero)
		return decode(&list[len(list)-1], d)
	})
	*to = list
	return err
}

// DecodeStrs reads a list of strings and replaces the earlier content of *to.
func DecodeStrs[T ~string](d *jx.Decoder, to *[]T) error {
	return DecodeArr(d, to, func(to *T, d *jx.Decoder) error { return DecodeStr(d, to) })
}

// Encoder is implemented by values that write themselves as JSON.
type Encoder interface{ Encode(e *jx.Encoder) }

// Decoder is implemented by values that read themselves from JSON.
type Decoder interface{ Decode(d *jx.Decoder) error }

// Marshal returns the JSON of a value, in a slice that the caller owns. The error is always nil.
func Marshal(value Encoder) ([]byte, error) {
	e := jx.GetEncoder()
	defer jx.PutEncoder(e)
	value.Encode(e)
	return bytes.Clone(e.Bytes()), nil
}
