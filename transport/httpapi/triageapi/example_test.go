package triageapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/triageapi"
	"github.com/callwright/callwright/triage"
)

// A program serves only the area of issues. An error names the invalid member of the body.
func Example() {
	store := memstore.New()
	issues, err := triage.New(triage.Config{Store: triagestore.Store{Store: store}, Atomic: store, Work: memstore.NewWork(store, nil)})
	if err != nil {
		panic(err)
	}
	defer issues.Close()
	api, err := httpapi.New(httpapi.Config{
		Access: anybody{}, Areas: []httpapi.Area{triageapi.New(triageapi.Config{Issues: issues})},
	})
	if err != nil {
		panic(err)
	}
	answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/triage/issues", strings.NewReader(`{"title": ""}`)) //nolint:noctx // an example
	request.Header.Set("Content-Type", "application/json")
	api.ServeHTTP(answer, request)
	fmt.Println(answer.Code, answer.Body)
	// Output: 400 {"data":null,"errors":[{"error":"bad_request","message":"title: has a length of 0; at least 1 is required","path":"title"}]}
}

// anybody authenticates every request as the organization acme.
type anybody struct{}

func (anybody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "k1"}, nil
}
