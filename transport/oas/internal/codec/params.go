package codec

import (
	"encoding/json"
	"net/url"

	"github.com/go-faster/errors"
	"github.com/ogen-go/ogen/conv"
	"github.com/ogen-go/ogen/ogenerrors"
	"github.com/ogen-go/ogen/openapi"
	"github.com/ogen-go/ogen/uri"
	"github.com/ogen-go/ogen/validate"
)

// Source supplies the parameters of a query or of headers.
type Source[Config any] interface {
	HasParam(config Config) error
	DecodeParam(config Config, decode func(uri.Decoder) error) error
}

// Param decodes and validates a parameter. It returns nil if an optional parameter is absent.
func Param[Config any, S Source[Config]](source S, config Config, required bool, decode func(uri.Decoder) error, check func() error) error {
	if err := source.HasParam(config); err != nil {
		if required {
			return err
		}
		return nil
	}
	if err := source.DecodeParam(config, decode); err != nil {
		return err
	}
	return check()
}

// PathParam decodes and validates a segment of the path. It unescapes the segment first if escaped is set.
func PathParam(name, segment string, escaped bool, decode func(uri.Decoder) error, check func() error) error {
	if err := pathParam(name, segment, escaped, decode, check); err != nil {
		return ParamError(name, "path", err)
	}
	return nil
}

func pathParam(name, segment string, escaped bool, decode func(uri.Decoder) error, check func() error) error {
	if escaped {
		unescaped, err := url.PathUnescape(segment)
		if err != nil {
			return errors.Wrap(err, "unescape path")
		}
		segment = unescaped
	}
	if segment == "" {
		return validate.ErrFieldRequired
	}
	if err := decode(uri.NewPathDecoder(uri.PathDecoderConfig{Param: name, Value: segment, Style: uri.PathStyleSimple})); err != nil {
		return err
	}
	return check()
}

// ParamError returns an error that names a parameter and its location: the path, the query or a header.
func ParamError(name string, in openapi.ParameterLocation, err error) error {
	return &ogenerrors.DecodeParamError{Name: name, In: in, Err: err}
}

// DecodeParam decodes and converts the value of a parameter. Booleans and numbers must be written as in JSON.
func DecodeParam[T any](d uri.Decoder, to *T, convert func(string) (T, error)) error {
	text, err := d.DecodeValue()
	if err != nil {
		return err
	}
	value, err := convert(text)
	if err != nil {
		return err
	}
	// Go's parsers also accept texts such as "T" and "0x1p3", which are neither booleans nor numbers of JSON.
	switch any(value).(type) {
	case bool, int, int64, float64:
		if err := json.Unmarshal([]byte(text), new(T)); err != nil {
			return err
		}
	}
	*to = value
	return nil
}

// DecodeParamText decodes the text of a parameter.
func DecodeParamText[T ~string](d uri.Decoder, to *T) error {
	return DecodeParam(d, to, func(text string) (T, error) {
		text, err := conv.ToString(text)
		return T(text), err
	})
}

// DecodeParamTexts decodes the texts of a list parameter and replaces the earlier content of *to.
func DecodeParamTexts[T ~string](d uri.Decoder, to *[]T) error {
	*to = nil
	return d.DecodeArray(func(d uri.Decoder) error {
		return SetParamText(d, func(text T) { *to = append(*to, text) })
	})
}

// SetParam decodes the value of an optional parameter and passes the value to the function set.
func SetParam[T any](d uri.Decoder, set func(T), convert func(string) (T, error)) error {
	var value T
	if err := DecodeParam(d, &value, convert); err != nil {
		return err
	}
	set(value)
	return nil
}

// SetParamText decodes the text of an optional parameter and passes the text to the function set.
func SetParamText[T ~string](d uri.Decoder, set func(T)) error {
	var text T
	if err := DecodeParamText(d, &text); err != nil {
		return err
	}
	set(text)
	return nil
}

// EncodePath encodes a text as a segment of a path.
func EncodePath(to *string, config uri.PathEncoderConfig, text string) error {
	e := uri.NewPathEncoder(config)
	if err := e.EncodeValue(text); err != nil {
		return errors.Wrap(err, "encode path")
	}
	encoded, err := e.Result()
	if err != nil {
		return errors.Wrap(err, "encode path")
	}
	*to = encoded
	return nil
}
