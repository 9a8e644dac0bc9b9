package codec

import (
	"slices"
	"strconv"

	"github.com/go-faster/errors"
	"github.com/ogen-go/ogen/validate"
)

// Failures collects the errors of a value's members.
type Failures []validate.FieldError

// Add adds the error of a member. It ignores nil.
func (f *Failures) Add(name string, err error) {
	if err != nil {
		*f = append(*f, validate.FieldError{Name: name, Error: err})
	}
}

// AddItem adds the error of item i of a list. It ignores nil.
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

// Wrap prefixes the text of an error. Unlike errors.Wrap, it returns nil for nil.
func Wrap(err error, text string) error {
	if err == nil {
		return nil
	}
	return errors.Wrap(err, text)
}

// Validator is implemented by values that check themselves against the limits of the contract.
type Validator interface{ Validate() error }

// NotNil returns an error if isNil is true.
func NotNil(isNil bool) error {
	if isNil {
		return errors.New("nil is invalid value")
	}
	return nil
}

// Length checks the number of characters of a text. If most is negative, there is no maximum.
func Length(text string, least, most int) error {
	return String(text, validate.String{MinLength: least, MinLengthSet: true, MaxLength: most, MaxLengthSet: most >= 0})
}

// String checks a text against limits.
func String(text string, limits validate.String) error {
	return Wrap(limits.Validate(text), "string")
}

// Int checks an integer against limits.
func Int(number int64, limits validate.Int) error {
	return Wrap(limits.Validate(number), "int")
}

// Float checks a number against limits.
func Float(number float64, limits validate.Float) error {
	return Wrap(limits.Validate(number), "float")
}

// Size checks the number of items of a list. If most is negative, there is no maximum.
func Size(items, least, most int) error {
	limits := validate.Array{MinLength: least, MinLengthSet: true, MaxLength: most, MaxLengthSet: most >= 0}
	return Wrap(limits.ValidateLength(items), "array")
}

// Each checks every item of a list. It returns a *validate.Error that names the invalid items.
func Each[T any](list []T, check func(item *T) error) error {
	var failures Failures
	for i := range list {
		failures.AddItem(i, check(&list[i]))
	}
	return failures.Err()
}

// Enum returns an error if the list known does not contain the value.
func Enum[T comparable](value T, known []T) error {
	if slices.Contains(known, value) {
		return nil
	}
	return errors.Errorf("invalid value: %v", value)
}

// EnumText returns the text of a value, or an error if the list known does not contain the value.
func EnumText[T ~string](value T, known []T) ([]byte, error) {
	if slices.Contains(known, value) {
		return []byte(value), nil
	}
	return nil, errors.Errorf("invalid value: %q", value)
}

// EnumOf stores in *to the value of the list known that equals the text. It returns an error if there is none.
func EnumOf[T ~string](text []byte, to *T, known []T) error {
	for _, value := range known {
		if string(value) == string(text) {
			*to = value
			return nil
		}
	}
	return errors.Errorf("invalid value: %q", text)
}
