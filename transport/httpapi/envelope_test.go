package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"github.com/callwright/callwright/internal/contracttest"
)

// envelopes is the set of answers that checkEnvelope has compared with the contract, except for the statuses 401 and 429. A key is an
// operation's id and whether it succeeded.
var envelopes sync.Map

type envelopeSeen struct {
	operation string
	success   bool
}

// markOf returns the value of x-callwright-envelope of an operation.
func markOf(op *v3.Operation) string {
	mark, _ := op.Extensions.Get("x-callwright-envelope")
	return mark.Value
}

// marks maps the id of each operation to its envelope in the contract.
var marks = sync.OnceValue(func() map[string]string {
	marks := map[string]string{}
	every(func(_, _ string, op *v3.Operation) { marks[op.OperationId] = markOf(op) })
	return marks
})

// checkEnvelope checks that an answer has the envelope that the contract declares for its operation. The errors 401 and 429, and all errors
// of operations with envelope C, must have envelope A instead.
func checkEnvelope(t *testing.T, request *http.Request, answer *httptest.ResponseRecorder) {
	t.Helper()
	operation, ok := contracttest.Find(request.Method, request.URL.EscapedPath())
	if !ok {
		return
	}
	var body any
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		t.Errorf("%s: %v in %s", operation.ID, err, answer.Body)
		return
	}
	want := marks()[operation.ID]
	success := answer.Code < http.StatusBadRequest
	if everywhere := answer.Code == http.StatusUnauthorized || answer.Code == http.StatusTooManyRequests; !success && (want == "C" || everywhere) {
		want = "A"
	}
	if got := envelopeOf(body); got != want {
		t.Errorf("%s is marked %s; its answer %d has the form of %s: %s", operation.ID, marks()[operation.ID], answer.Code, got, answer.Body)
	}
	if answer.Code != http.StatusUnauthorized && answer.Code != http.StatusTooManyRequests {
		envelopes.Store(envelopeSeen{operation.ID, success}, true)
	}
}

// envelopeOf returns the envelope of an answer. In B, either the status is "success" and there are no errors, or the status is "error" and
// there are errors but no data. Any other answer with data and errors is A, and the rest is C.
func envelopeOf(body any) string {
	members, _ := body.(map[string]any)
	_, hasData := members["data"]
	_, hasErrors := members["errors"]
	switch {
	case members["status"] == "success" && !hasErrors, members["status"] == "error" && hasErrors && !hasData:
		return "B"
	case hasData && hasErrors:
		return "A"
	}
	return "C"
}

// built is the set of ids of the operations that the server implements, except for the pages for signers.
var built = sync.OnceValue(func() map[string]bool {
	built := map[string]bool{}
	every(func(_, path string, op *v3.Operation) {
		response := op.Responses.Codes.GetOrZero("501")
		absent := response != nil && strings.HasSuffix(response.GoLow().GetReference(), "/NotImplemented")
		built[op.OperationId] = !absent && !strings.HasPrefix(path, "/loa/")
	})
	return built
})

// unmarked returns the implemented operations for which no test has received an error, or a JSON success. Their envelopes are not checked.
func unmarked() []string {
	var missing []string
	every(func(_, _ string, op *v3.Operation) {
		for _, success := range []bool{true, false} {
			_, seen := envelopes.Load(envelopeSeen{op.OperationId, success})
			if !seen && built()[op.OperationId] && (!success || answersJSON(op)) {
				missing = append(missing, fmt.Sprintf("%s, success %t", op.OperationId, success))
			}
		}
	})
	return missing
}

// answersJSON reports whether an operation's success has a JSON body.
func answersJSON(op *v3.Operation) bool {
	for code, response := range op.Responses.Codes.FromOldest() {
		if code[0] == '2' && response.Content != nil && response.Content.GetOrZero("application/json") != nil {
			return true
		}
	}
	return false
}
