package pathwaysapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/pathwaysapi"
)

// A program serves only the area of pathways.
func Example() {
	store := memstore.New()
	service, err := pathway.New(pathway.Config{
		Store: agentstore.Pathways{Store: store}, Chats: agentstore.Chats{Store: store}, Atomic: store, Work: memstore.NewWork(store, nil),
		Interpreter: &pathway.Interpreter{Model: struct{ llm.Model }{}},
	})
	if err != nil {
		panic(err)
	}
	api, err := httpapi.New(httpapi.Config{
		Access: anybody{}, Areas: []httpapi.Area{pathwaysapi.New(pathwaysapi.Config{Pathways: service})},
	})
	if err != nil {
		panic(err)
	}
	answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/pathway", nil) //nolint:noctx // an example
	api.ServeHTTP(answer, request)
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 []
}

// anybody authenticates every request as the organization acme.
type anybody struct{}

func (anybody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "k1"}, nil
}
