package httpapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/oas"
)

// RestConfig is what the areas that are still in this package serve.
type RestConfig struct {
	Calls   *call.Service
	Agents  *agents.Service
	BaseURL string // of this server as its clients see it, for the URLs in answers; no slash at its end
}

// api implements the operations of calls, agents, inbound numbers and personas.
type api struct {
	oas.UnimplementedHandler
	RestConfig
	core *API
}

// Rest makes the area of what is still in this package.
func Rest(c RestConfig) Area {
	a := &api{RestConfig: c}
	return Area{
		Build:  a.serve,
		Absent: a.absent,
		Repeatable: map[string]func() Answer{
			oas.CreateCallOperation: func() Answer { return new(oas.CallCreatedReply) },
		},
		Errors: ErrorForm{
			Flat: map[string]bool{
				oas.CreateCallOperation: true, oas.ListCallsOperation: true, oas.GetCallOperation: true, oas.StopCallOperation: true,
				oas.UpdateInboundNumberOperation: true,
				oas.CreateAgentOperation:         true, oas.UpdateAgentOperation: true, oas.DeleteAgentOperation: true,
			},
			Names: map[string]map[callwright.Code]string{
				oas.GetRecordingOperation: {callwright.CodeNotFound: "CALL_RECORDING_NOT_FOUND"},
			},
		},
	}
}

func (a *api) absent(operation string) bool {
	switch operation {
	case oas.CreateCallOperation, oas.ListCallsOperation, oas.GetCallOperation, oas.StopCallOperation, oas.GetRecordingOperation:
		return a.Calls == nil
	case oas.ListPersonasOperation:
		return true
	default:
		return a.Agents == nil
	}
}

// serve makes the generated server of the area.
func (a *api) serve(core *API) (Server, error) {
	a.core = core
	server, err := oas.NewServer(a, a, oas.WithErrorHandler(HandleError), oas.WithMethodNotAllowed(MethodNotAllowed),
		oas.WithMiddleware(core.Middleware))
	return Generated(server, err, "Calls", "Agents", "Inbound", "Personas")
}

// NewError returns the answer to a request that failed.
func (a *api) NewError(ctx context.Context, err error) *oas.ErrorStatusCodeWithHeaders {
	f := NewFailure(ctx, err)
	answer := &oas.ErrorStatusCodeWithHeaders{StatusCode: f.Status, RetryAfter: f.RetryAfter}
	_ = answer.Response.UnmarshalJSON(f.Body) // which it has written itself
	return answer
}

// HandleApiKey checks who makes a request.
func (a *api) HandleApiKey(ctx context.Context, _ oas.OperationName, given oas.ApiKey) (context.Context, error) {
	return a.core.Authorize(ctx, given.APIKey, given.Roles)
}
