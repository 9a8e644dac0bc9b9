package agentsapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/agentsapi"
)

// A program serves web agents and inbound numbers, but no personas.
func Example() {
	store := memstore.New()
	service, err := agents.New(agents.Config{
		Numbers: agentstore.Numbers{Store: store}, WebAgents: agentstore.WebAgents{Store: store}, Atomic: store,
	})
	if err != nil {
		panic(err)
	}
	api, err := httpapi.New(httpapi.Config{
		Access: anybody{}, Areas: []httpapi.Area{agentsapi.New(agentsapi.Config{Agents: service})},
	})
	if err != nil {
		panic(err)
	}
	answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/agents", nil) //nolint:noctx // an example
	api.ServeHTTP(answer, request)
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 {"agents":[]}
}

// anybody authenticates every request as the organization acme.
type anybody struct{}

func (anybody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "k1"}, nil
}
