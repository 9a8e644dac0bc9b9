package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ogen-go/ogen/ogenerrors"
	"github.com/ogen-go/ogen/validate"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi/wire"
)

// refusal returns what the generated decoders and validators found wrong with a request; ok is false for an error that is
// not theirs. Paths look like those of the domains: directions[0].options.port.
func refusal(err error) (f failure, ok bool) {
	var inParams *ogenerrors.DecodeParamsError
	var inRequest *ogenerrors.DecodeRequestError
	var contentType *validate.InvalidContentTypeError
	switch {
	case errors.As(err, &contentType), errors.As(err, &inRequest) && noContentType(inRequest.Err):
		e := *callwright.ErrUnsupportedMedia
		e.Message = "this type of body is not accepted"
		return plain(&e), true
	case errors.As(err, &inParams):
		return failure{code: callwright.CodeBadRequest, lines: shorten(inParameter(inParams.Err))}, true
	case inRequest != nil:
		return failure{code: callwright.CodeBadRequest, lines: shorten(inBody(inRequest.Err))}, true
	}
	return failure{}, false
}

// noContentType reports whether the header is absent or can't be parsed, for which the generated code has no type.
func noContentType(err error) bool { return strings.HasPrefix(err.Error(), "parse media type") }

// inParameter returns what is wrong with a parameter. The generated code stops at the first.
func inParameter(err error) []line {
	var param *ogenerrors.DecodeParamError
	if !errors.As(err, &param) {
		return []line{{"", "the URL or a header can't be understood"}}
	}
	if lines := invalid(param.Name, param.Err); lines != nil {
		return lines
	}
	if strings.HasSuffix(param.Err.Error(), " not set") { // the generated code has no type for it in the query
		return []line{{param.Name, "is required"}}
	}
	return []line{{param.Name, "has a value that can't be understood"}}
}

// inBody returns what is wrong with a body: the first thing that could not be decoded, or everything that is not valid.
func inBody(err error) []line {
	var undecoded *ogenerrors.DecodeBodyError
	switch {
	case errors.Is(err, validate.ErrBodyRequired):
		return []line{{"", "a body is required"}}
	case errors.As(err, &undecoded):
		return inJSON(undecoded)
	}
	if lines := invalid("", err); lines != nil {
		return lines
	}
	return []line{{"", "the body could not be read"}}
}

// The generated decoder names members, and says where it stopped, in the texts of its errors only, outermost first.
var (
	decodedField = regexp.MustCompile(`decode field "([^"]+)"`)
	unknownField = regexp.MustCompile(`unexpected field ("(?:[^"\\]|\\.)*")`)
	unknownType  = regexp.MustCompile(`(?s)unknown type (.*)$`)
	stoppedAt    = regexp.MustCompile(` at ([0-9]+)\b`)
)

func inJSON(err *ogenerrors.DecodeBodyError) []line {
	if !json.Valid(err.Body) && strings.HasSuffix(err.ContentType, "json") {
		return []line{{"", "the body is not valid JSON"}}
	}
	text := err.Err.Error()
	var names []string
	for _, match := range decodedField.FindAllStringSubmatch(text, -1) {
		names = append(names, match[1])
	}
	if match := unknownField.FindStringSubmatch(text); match != nil {
		var name string
		if json.Unmarshal([]byte(match[1]), &name) != nil {
			name = match[1]
		}
		path := placeOf(err.Body, names, func(p place) bool { return p.members[name] != nil })
		return []line{{wire.Join(path, name), "is not a known property"}}
	}
	if missing, ok := errors.AsType[*validate.Error](err.Err); ok && len(missing.Fields) > 0 {
		path := placeOf(err.Body, names, func(p place) bool { return p.members[missing.Fields[0].Name] == nil })
		return invalid(path, missing)
	}
	if match := unknownType.FindStringSubmatch(text); match != nil {
		path := placeOf(err.Body, names, func(p place) bool {
			var kind string
			return json.Unmarshal(p.members["type"], &kind) == nil && kind == match[1]
		})
		return []line{{path, "is of no known type"}}
	}
	return []line{{placeOf(err.Body, names, stopsAt(text)), "has the wrong type"}}
}

// stopsAt finds the value at which the decoder stopped, if it says that.
func stopsAt(text string) func(p place) bool {
	stops := stoppedAt.FindAllStringSubmatch(text, -1)
	if stops == nil {
		return func(place) bool { return false }
	}
	offset, err := strconv.ParseInt(stops[len(stops)-1][1], 10, 64)
	return func(p place) bool { return err == nil && p.start <= offset && offset < p.end }
}

// invalid lists the findings of the generated validators below a path, nil when err is not theirs.
func invalid(path string, err error) []line {
	if found, ok := errors.AsType[*validate.Error](err); ok {
		var lines []line
		for _, field := range found.Fields {
			lines = append(lines, invalid(wire.Join(path, field.Name), field.Error)...)
		}
		return lines
	}
	if errors.Is(err, validate.ErrFieldRequired) {
		return []line{{path, "is required"}}
	}
	if text := violation(err); text != "" {
		return []line{{path, text}}
	}
	return nil
}

// violation returns what a validator of a single value found, in words; empty for any other error.
func violation(err error) string {
	var short *validate.MinLengthError
	var long *validate.MaxLengthError
	switch {
	case errors.As(err, &short):
		return fmt.Sprintf("has a length of %d; at least %d is required", short.Len, short.MinLength)
	case errors.As(err, &long):
		return fmt.Sprintf("has a length of %d; at most %d is allowed", long.Len, long.MaxLength)
	}
	text := innermost(err).Error()
	for _, start := range []string{"value ", "invalid value", "nil is invalid", "no regex match", "duplicate element"} {
		if strings.HasPrefix(text, start) {
			return text
		}
	}
	return ""
}

func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
