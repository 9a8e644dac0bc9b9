package page

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// statuses maps codes to the same HTTP statuses as the API.
var statuses = map[callwright.Code]int{
	callwright.CodeAuthFailure: http.StatusUnauthorized, callwright.CodeFeatureNotEnabled: http.StatusForbidden,
	callwright.CodeForbidden: http.StatusForbidden, callwright.CodeBadRequest: http.StatusBadRequest,
	callwright.CodeNotFound: http.StatusNotFound, callwright.CodeConflict: http.StatusConflict,
	callwright.CodeInvalidState: http.StatusConflict, callwright.CodeDiscoveryInProgress: http.StatusConflict,
	callwright.CodePromotionGateFailed: http.StatusConflict, callwright.CodeCallNotAttached: http.StatusConflict,
	callwright.CodeMethodNotAllowed: http.StatusMethodNotAllowed, callwright.CodePayloadTooLarge: http.StatusRequestEntityTooLarge,
	callwright.CodeUnsupportedMedia: http.StatusUnsupportedMediaType, callwright.CodeTooManyRequests: http.StatusTooManyRequests,
	callwright.CodeNotImplemented: http.StatusNotImplemented, callwright.CodeUnavailable: http.StatusServiceUnavailable,
}

// failure contains the data of an error page.
type failure struct {
	Status  int
	Code    callwright.Code
	Heading string
	Message string
	Field   string
	Wait    time.Duration // until the next attempt is worthwhile; 0 if unknown
	ID      string        // id of the request
}

// headings maps codes to the titles of error pages. Other codes have the title "This did not work".
var headings = map[callwright.Code]string{
	callwright.CodeNotFound: "Not found", callwright.CodeForbidden: "Not allowed", callwright.CodeFeatureNotEnabled: "Not enabled",
	callwright.CodeBadRequest: "The input is wrong", callwright.CodeUnavailable: "Not available now", callwright.CodeTooManyRequests: "Too many at once",
	callwright.CodeAuthFailure: "Not signed in", callwright.CodeInternal: "The server has failed",
}

// statusOf returns the HTTP status of an error. The default is 500.
func statusOf(err error) int {
	if status, ok := statuses[callwright.CodeOf(err)]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// sentence formats a message as a sentence. It capitalizes the first letter, and adds a period unless the message ends with ".", "!" or
// "?".
func sentence(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	if size == 0 {
		return ""
	}
	message = string(unicode.ToUpper(first)) + message[size:]
	if strings.ContainsAny(message[len(message)-1:], ".!?") {
		return message
	}
	return message + "."
}

// answerError sends the page of an error. A status of 500 hides the message, which only the log contains.
func (s *Site) answerError(w http.ResponseWriter, r *Request, err error) {
	code := callwright.CodeOf(err)
	f := failure{
		Status: statusOf(err), Code: code, Heading: headings[code], Message: callwright.MessageOf(err), ID: r.id,
	}
	if f.Status == http.StatusInternalServerError {
		f.Code, f.Heading = callwright.CodeInternal, headings[callwright.CodeInternal]
		f.Message = "The cause is in the server's log, with the id of this request."
	}
	if f.Heading == "" {
		f.Heading = "This did not work"
	}
	if e, ok := errors.AsType[*callwright.Error](err); ok {
		f.Field = e.Field
	}
	if wait, ok := callwright.RetryAfter(err); ok {
		f.Wait = wait
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	if f.Field == "" {
		f.Message = sentence(f.Message)
	}
	bare := *r
	bare.area = nil // because the template belongs to this package
	v := &View{Page: "failure", Title: f.Heading, Status: f.Status, Data: f}
	if v.answer(s, w, &bare) != nil {
		http.Error(w, f.Message, f.Status)
	}
}
