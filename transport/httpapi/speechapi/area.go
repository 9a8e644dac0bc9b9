package speechapi

import (
	"context"

	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/speechoas"
)

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	core *httpapi.API
}

// New makes the area.
func New() httpapi.Area {
	a := new(api)
	return httpapi.Area{
		Build:     a.serve,
		Wants:     oas.Wants,
		NoUploads: true,
		Repeatable: map[string]func() httpapi.Answer{
			oas.CreateSpeechOperation: func() httpapi.Answer { return new(oas.SpeechCreated) },
		},
	}
}

// serve makes the generated server of the area.
func (a *api) serve(core *httpapi.API) (httpapi.Server, error) {
	a.core = core
	return httpapi.Generated(oas.NewServer(a, a, oas.WithErrorHandler(httpapi.HandleError),
		oas.WithMethodNotAllowed(httpapi.MethodNotAllowed), oas.WithMiddleware(core.Middleware), oas.WithMaxMultipartMemory(httpapi.UploadMemory)))
}

// NewError returns the answer to a request that failed.
func (a *api) NewError(ctx context.Context, err error) *oas.ErrorStatusCodeWithHeaders {
	f := httpapi.NewFailure(ctx, err)
	answer := &oas.ErrorStatusCodeWithHeaders{StatusCode: f.Status, RetryAfter: f.RetryAfter}
	_ = answer.Response.UnmarshalJSON(f.Body) // which it has written itself
	return answer
}

// HandleApiKey checks who makes a request.
func (a *api) HandleApiKey(ctx context.Context, _ oas.OperationName, given oas.ApiKey) (context.Context, error) {
	return a.core.Authorize(ctx, given.Request, given.Roles)
}
