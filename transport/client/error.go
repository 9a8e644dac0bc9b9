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

// The bounds of an Error.
const (
	MaxErrorBody    = 64 << 10 // bytes of its Body
	maxErrorMessage = 4 << 10  // bytes of its Message
	maxErrorName    = 500      // bytes of its Code, Field and RequestID
)

// Error is a failed answer of the server. errors.Is compares it with the sentinels of package callwright by its code, in upper
// or lower case: errors.Is(err, callwright.ErrNotFound).
type Error struct {
	Status int    // of HTTP
	Body   []byte // as it came, MaxErrorBody bytes of it at most, with the API key blotted out

	Code       string        // such as NOT_FOUND; empty: the answer has none
	Message    string        // of all errors of the answer, a line each; the text of the status when the answer has none
	Field      string        // path of the member that the first error is about; empty: none
	RetryAfter time.Duration // wait that the server asks for; 0: none
	RequestID  string        // by which the server's log names the request; empty: none
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

// Is reports whether target is a *callwright.Error of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*callwright.Error)
	return ok && e.Code != "" && strings.EqualFold(string(t.Code), e.Code)
}

// Temporary reports whether the same request may succeed later: 429, 502, 503 and 504.
func (e *Error) Temporary() bool {
	return retryable(e.Status) || e.Status == http.StatusGatewayTimeout
}

// newError reads a failed answer.
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
		e.Message = "the server redirects, which is not followed: check the base URL (" + BaseVariable + ")"
	}
	return e
}

// redactKey deletes the key from an answer of a server or a proxy.
func redactKey(body []byte, key callwright.Secret) []byte {
	if key == "" {
		return body
	}
	return []byte(strings.ReplaceAll(string(body), key.Reveal(), callwright.Redacted))
}

// problem is one of an envelope's errors.
type problem struct{ code, message, field string }

// read finds code, message and field in every form that errors have: {data, errors} and {status, message, errors}, whose errors are
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

// problemsOf reads a list of errors.
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

// problemOf reads an error. Its path stands under one of two names.
func problemOf(members map[string]json.RawMessage) problem {
	p := problem{code: textOf(members["error"]), message: textOf(members["message"]), field: textOf(members["path"])}
	if p.field == "" {
		p.field = textOf(members["field"])
	}
	return p
}

func textOf(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text) // another type is no text
	return text
}

// clean replaces the characters that a terminal would obey, except for line ends, and bounds a text in bytes.
func clean(text string, most int) string {
	text = callwright.Clip(text, most)
	return strings.Map(func(c rune) rune {
		if c != '\n' && callwright.Hidden(c) {
			return '�'
		}
		return c
	}, strings.ToValidUTF8(text, "�"))
}

// hasErrors reports whether an answer holds errors although its status is a success: existing servers of this contract send that.
func hasErrors(body []byte) bool {
	var envelope struct {
		Errors json.RawMessage `json:"errors"`
	}
	return json.Unmarshal(body, &envelope) == nil && len(problemsOf(envelope.Errors)) > 0
}

// retryAfter reads the header Retry-After: seconds or a date, which is compared with the date of the answer.
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
