package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// The maximum sizes of an Error's fields.
const (
	MaxErrorBody    = 64 << 10 // bytes of Body
	maxErrorMessage = 4 << 10  // bytes of Message
	maxErrorName    = 500      // bytes of Code, of Field and of RequestID
)

// Error is a failed answer of the server. errors.Is compares its code with the errors of package callwright, without regard to case:
// errors.Is(err, callwright.ErrNotFound).
type Error struct {
	Status int    // HTTP status
	Body   []byte // as received, up to MaxErrorBody bytes, with the API key replaced

	Code       string        // such as NOT_FOUND; empty if the answer contains none
	Message    string        // messages of all errors in the answer, one per line, or else a text that describes the status
	Field      string        // path of the member that the first error concerns; may be empty
	RetryAfter time.Duration // wait that the server requests; 0 if none
	RequestID  string        // identifies the request in the server's log; may be empty
	Operation  string        // method and path of the request, such as "GET /v1/voices"
}

// Error returns the operation, the status, the code and the message.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %d", e.Operation, e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	return text + ": " + e.Message
}

// Is reports whether target is a *callwright.Error with the same code, without regard to case.
func (e *Error) Is(target error) bool {
	t, ok := target.(*callwright.Error)
	return ok && e.Code != "" && strings.EqualFold(string(t.Code), e.Code)
}

// Temporary reports whether the same request may succeed later: the status is 429, 502, 503 or 504.
func (e *Error) Temporary() bool {
	return retryable(e.Status) || e.Status == http.StatusGatewayTimeout
}

// newError returns the Error for a failed answer. It redacts the key in the body.
func newError(operation string, status int, header http.Header, body []byte, key callwright.Secret) *Error {
	body = redactKey(body, key)
	e := &Error{
		Status: status, Body: body, Operation: operation,
		RequestID: clean(header.Get("X-Request-ID"), maxErrorName),
	}
	e.RetryAfter, _ = retryAfter(header, time.Now())
	e.read(body)
	if e.Message == "" {
		e.Message = http.StatusText(status)
	}
	if e.Message == "" {
		e.Message = "the server gave no reason"
	}
	if status >= 300 && status < 400 {
		e.Message = "the server redirects, and the client does not follow: check the base URL (" + BaseVariable + ")"
	}
	return e
}

// redactKey replaces the key in the answer of a server or a proxy by callwright.Redacted.
func redactKey(body []byte, key callwright.Secret) []byte {
	if key == "" {
		return body
	}
	return []byte(strings.ReplaceAll(string(body), key.Reveal(), callwright.Redacted))
}

// problem is one error in an answer.
type problem struct{ code, message, field string }

// read sets Code, Message and Field from an answer in any of its forms: {data, errors} and {status, message, errors}, where errors contains
// objects or texts, and {error, message}.
func (e *Error) read(body []byte) {
	var envelope map[string]json.RawMessage
	if json.Unmarshal(body, &envelope) != nil {
		return
	}
	problems := problemsOf(envelope["errors"])
	if len(problems) == 0 {
		problems = []problem{problemOf(envelope)}
	}
	var lines []string
	for _, p := range problems {
		if p.message != "" {
			lines = append(lines, p.message)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, textOf(envelope["message"]))
	}
	e.Code = clean(problems[0].code, maxErrorName)
	e.Field = clean(problems[0].field, maxErrorName)
	e.Message = clean(strings.Join(lines, "\n"), maxErrorMessage)
}

// problemsOf parses a list of errors. It returns nil if raw is not a list.
func problemsOf(raw json.RawMessage) []problem {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var problems []problem
	for _, item := range list {
		var members map[string]json.RawMessage
		if json.Unmarshal(item, &members) == nil && members != nil {
			problems = append(problems, problemOf(members))
		} else if text := textOf(item); text != "" {
			problems = append(problems, problem{message: text})
		}
	}
	return problems
}

// problemOf parses an error. Its field is the member "path" or, if this is empty, the member "field".
func problemOf(members map[string]json.RawMessage) problem {
	p := problem{code: textOf(members["error"]), message: textOf(members["message"]), field: textOf(members["path"])}
	if p.field == "" {
		p.field = textOf(members["field"])
	}
	return p
}

func textOf(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text) // for other types, text stays empty
	return text
}

// clean cuts a text after the given number of bytes. Then it replaces invalid UTF-8, and control and format characters except line ends,
// because a terminal may interpret them.
func clean(text string, most int) string {
	text = callwright.Clip(text, most)
	return strings.Map(func(c rune) rune {
		if c != '\n' && callwright.Hidden(c) {
			return '�'
		}
		return c
	}, strings.ToValidUTF8(text, "�"))
}

// hasErrors reports whether a successful answer contains errors. Existing servers of this contract send such answers.
func hasErrors(body []byte) bool {
	var envelope struct {
		Errors json.RawMessage `json:"errors"`
	}
	return json.Unmarshal(body, &envelope) == nil && len(problemsOf(envelope.Errors)) > 0
}

// retryAfter parses the header Retry-After: seconds, or a date, which is relative to the answer's Date or else to now. It returns false if
// the header is missing or invalid.
func retryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if sent, err := http.ParseTime(header.Get("Date")); err == nil {
		now = sent
	}
	return max(until.Sub(now), 0), true
}
