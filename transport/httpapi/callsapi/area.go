package callsapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/callsoas"
)

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	calls   *call.Service
	baseURL string
	core    *httpapi.API
}

// New makes the area. baseURL is the URL of this server as clients see it, without a slash at its end. Without a service the
// operations answer 501.
func New(calls *call.Service, baseURL string) httpapi.Area {
	a := &api{calls: calls, baseURL: baseURL}
	return httpapi.Area{
		Build: a.serve,
		Wants: oas.Wants, NullIsAbsent: oas.NullIsAbsent, NoEffect: oas.NoEffect,
		Absent: func(string) bool { return calls == nil },
		Repeatable: map[string]func() httpapi.Answer{
			oas.CreateCallOperation: func() httpapi.Answer { return new(oas.CallCreatedReply) },
		},
		Errors: httpapi.ErrorForm{
			Flat: map[string]bool{oas.CreateCallOperation: true, oas.StopCallOperation: true},
			Names: map[string]map[callwright.Code]string{
				oas.GetRecordingOperation: {callwright.CodeNotFound: "CALL_RECORDING_NOT_FOUND"},
			},
		},
	}
}

// serve makes the generated server of the area.
func (a *api) serve(core *httpapi.API) (httpapi.Server, error) {
	a.core = core
	return httpapi.Generated(oas.NewServer(a, a, a, oas.WithErrorHandler(httpapi.HandleError),
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
