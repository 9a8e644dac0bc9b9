package server

import (
	"context"
	"net/http"
	"testing"

	"github.com/callwright/callwright/internal/contracttest"
	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/agenttestoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
	"github.com/callwright/callwright/transport/oas/portingoas"
	"github.com/callwright/callwright/transport/oas/sipoas"
	"github.com/callwright/callwright/transport/oas/triageoas"
)

type (
	agentsClient   = agentsoas.Client
	callsClient    = callsoas.Client
	pathwaysClient = pathwaysoas.Client
	portingClient  = portingoas.Client
	sipClient      = sipoas.Client
	testsClient    = agenttestoas.Client
	triageClient   = triageoas.Client
)

// API combines the generated clients of a server's areas, except those for speech and webhooks.
type API struct {
	*agentsClient
	*callsClient
	*pathwaysClient
	*portingClient
	*sipClient
	*testsClient
	*triageClient
}

// newAPI creates the clients of a server.
func newAPI(t testing.TB, url string, key keyed) (api API) {
	t.Helper()
	client := &http.Client{Transport: contracttest.Transport(t, http.DefaultTransport)}
	var err error
	must := func() {
		if err != nil {
			t.Fatal(err)
		}
	}
	api.agentsClient, err = agentsoas.NewClient(url, key, agentsoas.WithClient(client))
	must()
	api.callsClient, err = callsoas.NewClient(url, key, callsoas.WithClient(client))
	must()
	api.pathwaysClient, err = pathwaysoas.NewClient(url, key, pathwaysoas.WithClient(client))
	must()
	api.portingClient, err = portingoas.NewClient(url, key, portingoas.WithClient(client))
	must()
	api.sipClient, err = sipoas.NewClient(url, key, sipoas.WithClient(client))
	must()
	api.testsClient, err = agenttestoas.NewClient(url, key, agenttestoas.WithClient(client))
	must()
	api.triageClient, err = triageoas.NewClient(url, key, triageoas.WithClient(client))
	must()
	return api
}

// keyed is an API key. It implements the security source of the generated clients.
type keyed string

// ApiKey sets the Authorization header, as the contract requires.
func (k keyed) ApiKey(_ context.Context, _ string, r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+string(k))
	return nil
}
