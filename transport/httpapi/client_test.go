package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/speechoas"
)

// bearer supplies its value as the key of generated clients.
type bearer string

func (b bearer) ApiKey(_ context.Context, _ string, r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return nil
}

func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	server := httptest.NewServer(h)
	defer server.Close()
	calls := must(callsoas.NewClient(server.URL, bearer(h.key), callsoas.WithClient(server.Client())))
	created, err := calls.CreateCall(t.Context(), &callsoas.CallCreate{
		PhoneNumber: theirNumber, Task: callsoas.NewOptString("Talk."),
	}, callsoas.CreateCallParams{})
	if err != nil {
		t.Fatal(err)
	}
	record, err := calls.GetCall(t.Context(), callsoas.GetCallParams{CallID: created.CallID})
	if err != nil || record.QueueStatus != callsoas.QueueStatusQueued {
		t.Errorf("record %+v, %v", record, err)
	}
	_, err = calls.GetCall(t.Context(), callsoas.GetCallParams{CallID: "nobody's"})
	var absent *callsoas.ErrorStatusCodeWithHeaders
	if !errors.As(err, &absent) || absent.StatusCode != http.StatusNotFound ||
		absent.Response.Errors[0].Error != string(callwright.CodeNotFound) {
		t.Errorf("a call that is not there: %v", err)
	}
	voices := must(speechoas.NewClient(server.URL, bearer(h.key), speechoas.WithClient(server.Client())))
	if list, err := voices.ListVoices(t.Context()); err != nil || len(list.Voices) != 3 {
		t.Errorf("listing voices: %v, %v", list, err)
	}
}
