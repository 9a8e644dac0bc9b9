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
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
)

// refusal translates the errors of the generated decoders and validators into errors for the client, with descriptions of valid values from
// the area. ok is false for any other error. Paths have the form of the domains' paths, such as directions[0].options.port.
func refusal(err error, area *Area) (f failure, ok bool) {
	var inParams *ogenerrors.DecodeParamsError
	var inRequest *ogenerrors.DecodeRequestError
	var contentType *validate.InvalidContentTypeError
	switch {
	case errors.As(err, &inParams):
		lines := inParameter(inParams.Err, wants{area, inParams.OperationID() + " ?"})
		return failure{code: callwright.CodeBadRequest, lines: shorten(lines)}, true
	case !errors.As(err, &inRequest):
		return failure{}, false
	}
	wanted := wants{area, inRequest.OperationID() + " "}
	if errors.As(err, &contentType) || noContentType(inRequest.Err) {
		return failure{code: callwright.CodeUnsupportedMedia, lines: []line{{text: wanted.contentType()}}}, true
	}
	return failure{code: callwright.CodeBadRequest, lines: shorten(inBody(inRequest.Err, wanted))}, true
}

// wants finds the descriptions of valid members of an operation's body, or of its parameters. prefix is the beginning of their keys in
// Area.Wants.
type wants struct {
	area   *Area
	prefix string
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// or returns "must be " and the description of a valid member at a path, or text if there is no description.
func (w wants) or(path, text string) string {
	if w.area == nil {
		return text
	}
	if wanted := w.area.Wants[w.prefix+index.ReplaceAllString(path, "[]")]; wanted != "" {
		return "must be " + wanted
	}
	return text
}

func (w wants) contentType() string {
	if w.area != nil && w.area.Wants[w.prefix+"Content-Type"] != "" {
		return "the Content-Type must be " + w.area.Wants[w.prefix+"Content-Type"]
	}
	return "this type of body is not accepted"
}

// noContentType reports whether the Content-Type is absent or invalid. The generated code has no error type for that.
func noContentType(err error) bool { return strings.HasPrefix(err.Error(), "parse media type") }

// inParameter returns the error of a parameter. The generated code stops at the first invalid parameter.
func inParameter(err error, wanted wants) []line {
	var param *ogenerrors.DecodeParamError
	if !errors.As(err, &param) {
		return []line{{"", "the URL or a header is malformed"}}
	}
	if lines := wanted.invalid(param.Name, param.Err); lines != nil {
		return lines
	}
	if strings.HasSuffix(param.Err.Error(), " not set") { // the generated code has no error type for an absent query parameter
		return []line{{param.Name, "is required"}}
	}
	return []line{{param.Name, wanted.or(param.Name, "has a malformed value")}}
}

// inBody returns the errors of a body: the first member that could not be decoded, or all invalid members.
func inBody(err error, wanted wants) []line {
	var undecoded *ogenerrors.DecodeBodyError
	switch {
	case errors.Is(err, validate.ErrBodyRequired):
		return []line{{"", "a body is required"}}
	case errors.As(err, &undecoded):
		return []line{inJSON(undecoded, wanted)}
	}
	path := ""
	if match := decodedPart.FindStringSubmatch(err.Error()); match != nil && errors.Is(err, validate.ErrFieldRequired) {
		path = match[1]
	}
	if lines := wanted.invalid(path, err); lines != nil {
		return lines
	}
	return []line{{"", "the body could not be read"}}
}

// decodedPart matches the name of the form part that an error concerns.
var decodedPart = regexp.MustCompile(`^decode "([^"]+)"`)

// The generated decoder reports members, and the offset at which it stopped, only in the texts of its errors. The outermost member comes
// first.
var (
	decodedField = regexp.MustCompile(`decode field "([^"]+)"`)
	unknownField = regexp.MustCompile(`unexpected field ("(?:[^"\\]|\\.)*")`)
	unknownType  = regexp.MustCompile(`(?s)unknown type (.*)$`)
	stoppedAt    = regexp.MustCompile(` at ([0-9]+)\b`)
)

func inJSON(err *ogenerrors.DecodeBodyError, wanted wants) line {
	if !json.Valid(err.Body) && strings.HasSuffix(err.ContentType, "json") {
		return line{"", "the body is not valid JSON"}
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
		return line{wire.Join(path, name), "is not a known property"}
	}
	if missing, ok := errors.AsType[*validate.Error](err.Err); ok && len(missing.Fields) > 0 {
		path := placeOf(err.Body, names, func(p place) bool { return p.members[missing.Fields[0].Name] == nil })
		return wanted.invalid(path, missing)[0]
	}
	if match := memberCount.FindStringSubmatch(text); match != nil {
		path := placeOf(err.Body, names, func(p place) bool { return strconv.Itoa(len(p.members)) == match[1] })
		return line{path, countOf(match)}
	}
	if match := unknownType.FindStringSubmatch(text); match != nil {
		path := placeOf(err.Body, names, func(p place) bool {
			var kind string
			return json.Unmarshal(p.members["type"], &kind) == nil && kind == match[1]
		})
		path = wire.Join(path, "type")
		return line{path, wanted.or(path, "must be a known type")}
	}
	path := placeOf(err.Body, names, stopsAt(text, err.Body))
	if path == "" {
		return line{"", "the body " + wanted.or("", "has the wrong type")}
	}
	return line{path, wanted.or(path, "has the wrong type")}
}

// memberCount matches the text of the error for an object with too few or too many members.
var memberCount = regexp.MustCompile(`object properties number ([0-9]+) (less|greater) than \w+ ([0-9]+)`)

func countOf(match []string) string {
	switch {
	case match[2] == "greater":
		return "has " + match[1] + " members; at most " + match[3] + " are allowed"
	case match[3] == "1":
		return "at least one member is required"
	}
	return "has " + match[1] + " members; at least " + match[3] + " are required"
}

// stopsAt returns a function that matches the value at which the decoder stopped. The decoder reports no offset for a number that is too
// large, so the function then matches such a number.
func stopsAt(text string, body []byte) func(p place) bool {
	stops := stoppedAt.FindAllStringSubmatch(text, -1)
	if stops == nil {
		return func(p place) bool {
			_, err := strconv.ParseFloat(strings.Trim(string(body[p.start:p.end]), ":, \t\r\n"), 64)
			return errors.Is(err, strconv.ErrRange)
		}
	}
	offset, err := strconv.ParseInt(stops[len(stops)-1][1], 10, 64)
	return func(p place) bool { return err == nil && p.start <= offset && offset < p.end }
}

// invalid returns the errors of the generated validators below a path, or nil if err is not an error of a validator.
func (w wants) invalid(path string, err error) []line {
	if found, ok := errors.AsType[*validate.Error](err); ok {
		var lines []line
		for _, field := range found.Fields {
			lines = append(lines, w.invalid(wire.Join(path, field.Name), field.Error)...)
		}
		return lines
	}
	if errors.Is(err, validate.ErrFieldRequired) {
		return []line{{path, "is required"}}
	}
	if text := w.violation(path, err); text != "" {
		return []line{{path, text}}
	}
	return nil
}

// violation describes an error of a validator of a single value. It returns an empty text for any other error.
func (w wants) violation(path string, err error) string {
	var short *validate.MinLengthError
	var long *validate.MaxLengthError
	switch {
	case errors.As(err, &short):
		return fmt.Sprintf("has a length of %d; at least %d is required", short.Len, short.MinLength)
	case errors.As(err, &long):
		return fmt.Sprintf("has a length of %d; at most %d is allowed", long.Len, long.MaxLength)
	}
	text := innermost(err).Error()
	if match := memberCount.FindStringSubmatch(text); match != nil {
		return countOf(match)
	}
	if strings.HasPrefix(text, "duplicate element") {
		return "must not repeat an item"
	}
	for _, start := range []string{"value ", "invalid value", "nil is invalid", "no regex match"} {
		if strings.HasPrefix(text, start) {
			return w.or(path, text)
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
