package webhooksapi

import (
	"context"

	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/webhooksoas"
)

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	deliveries *delivery.Log
	core       *httpapi.API
}

// New makes the area. Without a log of deliveries its operations answer 501.
func New(deliveries *delivery.Log) httpapi.Area {
	a := &api{deliveries: deliveries}
	return httpapi.Area{
		Build: a.serve,
		Wants: oas.Wants, NullIsAbsent: oas.NullIsAbsent,
		Absent: func(string) bool { return deliveries == nil },
		Errors: httpapi.ErrorForm{Flat: map[string]bool{oas.ResumeWebhooksOperation: true}},
	}
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
