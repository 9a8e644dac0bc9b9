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

// An Object says which members the JSON object of a type has.
type Object struct {
	Type     string
	Members  []string // in the order of the contract
	Required []uint8  // a bit for each member, the lowest of the first byte for the first
}

// MostMembers is the largest number of members of one object.
const MostMembers = 128

// Decode reads an object. The function reads the value of one member, and returns the member's index; or -1 if the member is
// not one of them, and its error is not to be wrapped. It returns an error for a receiver that is nil, for a member that cannot be read, and a
// *validate.Error with the names of required members that are absent.
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

// missing returns the error that names the required members that were not seen.
func (o *Object) missing(seen []uint8) error {
	var failures Failures
	for i, mask := range o.Required {
		for missed := mask &^ seen[i]; missed != 0; missed &= missed - 1 {
			failures.Add(o.Members[i*8+bits.TrailingZeros8(missed)], validate.ErrFieldRequired)
		}
	}
	return failures.Err()
}

// Nil returns the error for a receiver that is nil.
func Nil(name string) error {
	return errors.New("invalid: unable to decode " + name + " to nil")
}

// DecodeStr reads a text.
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

// DecodeBool reads true or false.
func DecodeBool(d *jx.Decoder, to *bool) (err error) {
	*to, err = d.Bool()
	return err
}

// DecodeFloat reads a number.
func DecodeFloat(d *jx.Decoder, to *float64) (err error) {
	*to, err = d.Float64()
	return err
}

// DecodeRaw reads any value, and copies its text.
func DecodeRaw(d *jx.Decoder, to *jx.Raw) (err error) {
	*to, err = d.RawAppend(nil)
	return err
}

// DecodeTime reads a time of a layout.
func DecodeTime(d *jx.Decoder, to *time.Time, layout string) (err error) {
	*to, err = json.DecodeTimeFormat(d, layout)
	return err
}

// DecodeEnum reads a text of an enumeration, and accepts any: validation refuses unknown texts.
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

// DecodeArr reads a list, in place of its earlier content.
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

// DecodeStrs reads a list of texts, in place of its earlier content.
func DecodeStrs[T ~string](d *jx.Decoder, to *[]T) error {
	return DecodeArr(d, to, func(to *T, d *jx.Decoder) error { return DecodeStr(d, to) })
}

// Encoder is a value that writes itself as JSON.
type Encoder interface{ Encode(e *jx.Encoder) }

// Decoder is a value that reads itself from JSON.
type Decoder interface{ Decode(d *jx.Decoder) error }

// Marshal returns the JSON of a value.
func Marshal(value Encoder) ([]byte, error) {
	e := jx.GetEncoder()
	defer jx.PutEncoder(e)
	value.Encode(e)
	return bytes.Clone(e.Bytes()), nil
}
