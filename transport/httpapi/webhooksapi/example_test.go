package webhooksapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/webhooksapi"
)

// A program serves only the area of paused webhook hosts.
func Example() {
	store := memstore.New()
	deliveries, err := delivery.NewLog(delivery.LogConfig{Store: orgstore.Deliveries{Store: store}})
	if err != nil {
		panic(err)
	}
	api, err := httpapi.New(httpapi.Config{
		Access: anybody{}, Areas: []httpapi.Area{webhooksapi.New(webhooksapi.Config{Deliveries: deliveries})},
	})
	if err != nil {
		panic(err)
	}
	answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/webhooks/paused", nil) //nolint:noctx // an example
	api.ServeHTTP(answer, request)
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 {"data":[],"errors":null}
}

// anybody authenticates every request as the organization acme.
type anybody struct{}

func (anybody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "k1"}, nil
}
