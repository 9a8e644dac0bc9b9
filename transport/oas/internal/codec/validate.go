package codec

import (
	"slices"
	"strconv"

	"github.com/go-faster/errors"
	"github.com/ogen-go/ogen/validate"
)

// Failures collects the faults of the members of one value.
type Failures []validate.FieldError

// Add notes that a member failed. A nil error is nothing.
func (f *Failures) Add(name string, err error) {
	if err != nil {
		*f = append(*f, validate.FieldError{Name: name, Error: err})
	}
}

// AddItem notes that an item of a list failed. A nil error is nothing.
func (f *Failures) AddItem(i int, err error) {
	if err != nil {
		*f = append(*f, validate.FieldError{Name: "[" + strconv.Itoa(i) + "]", Error: err})
	}
}

// Err returns a *validate.Error with the failures, or nil if there are none.
func (f Failures) Err() error {
	if len(f) == 0 {
		return nil
	}
	return &validate.Error{Fields: f}
}

// Wrap puts a text in front of an error. It returns nil for nil, which errors.Wrap does not.
func Wrap(err error, text string) error {
	if err == nil {
		return nil
	}
	return errors.Wrap(err, text)
}

// Validator is a value that knows its own limits.
type Validator interface{ Validate() error }

// NotNil returns the error of a value that must be there and is not.
func NotNil(isNil bool) error {
	if isNil {
		return errors.New("nil is invalid value")
	}
	return nil
}

// Length checks the number of a text's characters. A negative most is no limit.
func Length(text string, least, most int) error {
	return String(text, validate.String{MinLength: least, MinLengthSet: true, MaxLength: most, MaxLengthSet: most >= 0})
}

// String checks a text.
func String(text string, limits validate.String) error {
	return Wrap(limits.Validate(text), "string")
}

// Int checks an integer.
func Int(number int64, limits validate.Int) error {
	return Wrap(limits.Validate(number), "int")
}

// Float checks a number.
func Float(number float64, limits validate.Float) error {
	return Wrap(limits.Validate(number), "float")
}

// Size checks the number of a list's items. A negative most is no limit.
func Size(items, least, most int) error {
	limits := validate.Array{MinLength: least, MinLengthSet: true, MaxLength: most, MaxLengthSet: most >= 0}
	return Wrap(limits.ValidateLength(items), "array")
}

// Each checks every item of a list.
func Each[T any](list []T, check func(item *T) error) error {
	var failures Failures
	for i := range list {
		failures.AddItem(i, check(&list[i]))
	}
	return failures.Err()
}

// Enum returns an error unless a value is known.
func Enum[T comparable](value T, known []T) error {
	if slices.Contains(known, value) {
		return nil
	}
	return errors.Errorf("invalid value: %v", value)
}

// EnumText returns the text of a value that is known.
func EnumText[T ~string](value T, known []T) ([]byte, error) {
	if slices.Contains(known, value) {
		return []byte(value), nil
	}
	return nil, errors.Errorf("invalid value: %q", value)
}

// EnumOf sets a value that is known by its text.
func EnumOf[T ~string](text []byte, to *T, known []T) error {
	for _, value := range known {
		if string(value) == string(text) {
			*to = value
			return nil
		}
	}
	return errors.Errorf("invalid value: %q", text)
}
