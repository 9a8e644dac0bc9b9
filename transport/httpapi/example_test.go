package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/triageapi"
	"github.com/callwright/callwright/triage"
)

// A program serves the API of issues next to its own pages, and links no other area of the contract.
func Example() {
	store := memstore.New()
	keys := must(access.New(access.Config{
		Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: callwright.Secret(strings.Repeat("s", 32)),
	}))
	issues := must(triage.New(triage.Config{
		Store: triagestore.Store{Store: store}, Atomic: store, Work: memstore.NewWork(store, nil),
	}))
	defer issues.Close()
	api := must(httpapi.New(httpapi.Config{Access: keys, Areas: []httpapi.Area{triageapi.New(triageapi.Config{Issues: issues})}}))
	mux := http.NewServeMux()
	mux.Handle("/v1/", api)
	mux.HandleFunc("GET /about", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "Acme") })

	org := must(keys.CreateOrganization(context.Background(), "acme", "Acme"))
	key := must(keys.CreateKey(context.Background(), org.ID, "ci", 0))
	ask := func(method, path, body string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body)) //nolint:noctx // an example
		r.Header.Set("Authorization", "Bearer "+key.Key.Reveal())
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, r)
		fmt.Println(method, path, answer.Code)
	}
	ask("POST", "/v1/triage/issues", `{"title": "Agent books a closed day"}`)
	ask("GET", "/about", "")
	ask("GET", "/v1/calls", "")
	// Output:
	// POST /v1/triage/issues 201
	// GET /about 200
	// GET /v1/calls 404
}
