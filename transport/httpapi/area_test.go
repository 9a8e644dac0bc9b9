package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/agentsapi"
	"github.com/callwright/callwright/transport/httpapi/portingapi"
	"github.com/callwright/callwright/transport/httpapi/triageapi"
)

// TestEveryOperationHasOneArea checks that the path of each operation is in exactly one area. If two areas shared a path, only one of them
// would list the path's methods.
func TestEveryOperationHasOneArea(t *testing.T) {
	t.Parallel()
	h := open(t)
	var servers []httpapi.Server
	for _, area := range h.areas.all() {
		wrap := area.Wrap
		area.Wrap = func(server httpapi.Server) (_ httpapi.Server, err error) {
			if wrap != nil {
				server, err = wrap(server)
			}
			servers = append(servers, server)
			return server, err
		}
		must(httpapi.New(httpapi.Config{Access: h.access, Atomic: h.store, Idempotency: h.answers(), Areas: []httpapi.Area{area}}))
	}
	every(func(method, path string, op *v3.Operation) {
		u := &url.URL{Path: strings.NewReplacer("{version}", "1", "{", "", "}", "").Replace(path)}
		found := 0
		for _, server := range servers {
			knows := false
			for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				o, ok := server.Find(m, u)
				knows = knows || ok
				if ok && m == method && (o.ID != op.OperationId || o.Path != path) {
					t.Errorf("%s %s leads to %+v", method, path, o)
				}
			}
			if knows {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s %s is in %d areas, want 1", method, path, found)
		}
	})
}

func TestOnlyAreasThatAreGivenAreServed(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *httpapi.Config) {
		c.Areas, c.Reference = []httpapi.Area{triageapi.New(triageapi.Config{}), portingapi.New(portingapi.Config{})}, nil
	})
	h.Handler = h.unchecked // this server answers 404 for paths of the contract
	for _, target := range []string{"/v1/calls", "/v1/sip", "/v1/pathway", "/v1/voices", "/docs/", "/docs", "/openapi.yaml"} {
		h.want(http.StatusNotFound, "GET", target, "")
	}
	h.want(http.StatusNotImplemented, "GET", "/v1/triage/issues", "")
	h.want(http.StatusNotImplemented, "GET", "/v1/sip/port", "")
}

// TestMethodsOfAPath checks that a method without an operation is answered 405 with the allowed methods.
func TestMethodsOfAPath(t *testing.T) {
	t.Parallel()
	h := open(t)
	for target, allowed := range map[string]string{
		"/v1/calls": "GET, HEAD, POST", "/v1/triage/issues/i1": "DELETE, GET, HEAD, PATCH", "/v1/sip/port/p1": "DELETE, GET, HEAD",
		"/v1/voices/v1": "DELETE, GET, HEAD, PATCH", "/v1/agents/a1/delete": "POST", "/v1/agent-testing/scenarios/s1": "DELETE, GET, HEAD, PUT",
		"/v1/personas": "GET, HEAD, POST", "/v1/personas/p1": "DELETE, GET, HEAD, PATCH", "/v1/personas/p1/draft": "DELETE",
	} {
		for _, method := range []string{"HEAD", "OPTIONS", "PUT", "POST", "DELETE", "TRACE", "LINK"} {
			if slices.Contains(strings.Split(allowed, ", "), method) {
				continue
			}
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, target, nil))
			if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != allowed {
				t.Errorf("%s %s: %d, allows %q, want %q", method, target, answer.Code, answer.Header().Get("Allow"), allowed)
			}
		}
	}
}

// TestKeysOfRequestsAreTakenByEveryArea checks that exactly the operations that accept an Idempotency-Key have answers that can be stored.
func TestKeysOfRequestsAreTakenByEveryArea(t *testing.T) {
	t.Parallel()
	h := open(t)
	repeatable := map[string]bool{}
	for _, area := range h.areas.all() {
		for name, empty := range area.Repeatable {
			repeatable[strings.ToLower(name)] = true
			if _, err := empty().MarshalJSON(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	every(func(_, _ string, op *v3.Operation) {
		takes := slices.ContainsFunc(op.Parameters, func(p *v3.Parameter) bool { return p.Name == "Idempotency-Key" })
		if takes != repeatable[strings.ToLower(op.OperationId)] {
			t.Errorf("%s takes a key: %t; its answer can be kept: %t", op.OperationId, takes, !takes)
		}
	})
}

func TestMissingConfigurationIsNamed(t *testing.T) {
	t.Parallel()
	h := open(t)
	whole := httpapi.Config{Access: h.access, Atomic: h.store, Idempotency: h.answers(), Areas: h.areas.all()}
	const twice = "an area has operations that take an Idempotency-Key: set Config.Atomic and Config.Idempotency"
	for _, fault := range []struct {
		want string
		make func(*httpapi.Config)
	}{
		{"Config.Access is required", func(c *httpapi.Config) { c.Access = nil }},
		{twice, func(c *httpapi.Config) { c.Atomic = nil }},
		{twice, func(c *httpapi.Config) { c.Idempotency = nil }},
	} {
		c := whole
		fault.make(&c)
		if _, err := httpapi.New(c); err == nil || err.Error() != "httpapi: "+fault.want {
			t.Errorf("got %v, want %s", err, fault.want)
		}
	}
	must(httpapi.New(whole))
	// Agents and issues have no operation that accepts an Idempotency-Key.
	must(httpapi.New(httpapi.Config{
		Access: h.access, Areas: []httpapi.Area{agentsapi.New(agentsapi.Config{Agents: h.areas.agents}), triageapi.New(triageapi.Config{Issues: h.areas.issues})},
	}))
}
