package agentsapi

import (
	"context"
	"strings"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/agentsoas"
)

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	agents   *agents.Service
	personas *persona.Service
	core     *httpapi.API
}

// New makes the area. The operations of a service that is nil answer 501.
func New(agents *agents.Service, personas *persona.Service) httpapi.Area {
	a := &api{agents: agents, personas: personas}
	return httpapi.Area{
		Build: a.serve,
		Wants: oas.Wants, NullIsAbsent: oas.NullIsAbsent, Aliases: oas.Aliases,
		Absent: a.absent,
		Errors: httpapi.ErrorForm{Flat: map[string]bool{
			oas.UpdateInboundNumberOperation: true, oas.UpdateAgentOperation: true,
			oas.DeleteAgentOperation: true, oas.RemoveAgentOperation: true,
		}},
	}
}

// absent reports whether an operation has no service.
func (a *api) absent(operation string) bool {
	if strings.Contains(operation, "Persona") {
		return a.personas == nil
	}
	return a.agents == nil
}

// serve makes the generated server of the area.
func (a *api) serve(core *httpapi.API) (httpapi.Server, error) {
	a.core = core
	return httpapi.Generated(oas.NewServer(a, a, oas.WithErrorHandler(httpapi.HandleError),
		oas.WithMethodNotAllowed(httpapi.MethodNotAllowed), oas.WithMiddleware(core.Middleware)))
}

// NewError returns the answer to a request that failed.
func (a *api) NewError(ctx context.Context, err error) *oas.ErrorStatusCodeWithHeaders {
	f := httpapi.NewFailure(ctx, err)
	answer := &oas.ErrorStatusCodeWithHeaders{StatusCode: f.Status, RetryAfter: f.RetryAfter}
	_ = answer.Response.UnmarshalJSON(f.Body) // which it has written itself
	return answer
}

// HandleApiKey authenticates a request.
func (a *api) HandleApiKey(ctx context.Context, _ oas.OperationName, given oas.ApiKey) (context.Context, error) {
	return a.core.Authorize(ctx, given.Request, given.Roles)
}
