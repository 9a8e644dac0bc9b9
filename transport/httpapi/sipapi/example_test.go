package sipapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/sipapi"
)

// A program serves only its trunks. The operations of the other services answer 501.
func Example() {
	store := memstore.New()
	trunks, err := sip.New(sip.Config{
		Store: sipstore.Trunks{Store: store}, Atomic: store, Statuses: sipstore.Statuses{Store: store},
		Registrations: sipstore.Registrations{Store: store}, Codecs: []string{"PCMU"},
		DerivationKey: callwright.Secret(strings.Repeat("k", 32)),
	})
	if err != nil {
		panic(err)
	}
	api, err := httpapi.New(httpapi.Config{
		Access: anybody{}, Atomic: store, Idempotency: orgstore.IdempotencyStore{Store: store}, Areas: []httpapi.Area{sipapi.New(sipapi.Config{Trunks: trunks})},
	})
	if err != nil {
		panic(err)
	}
	answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/sip?phone_number=%2B14155550100", nil) //nolint:noctx // an example
	api.ServeHTTP(answer, request)
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 {"data":{"inbound":null,"outbound":null},"errors":null}
}

// anybody authenticates every request as the organization acme.
type anybody struct{}

func (anybody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "k1", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP}}, nil
}
