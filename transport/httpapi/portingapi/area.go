package portingapi

import (
	"context"

	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

// Config holds the services of the area. The operations of a service that is nil answer 501.
type Config struct {
	Ports     *porting.Service
	Documents *document.Service
	Letters   *loa.Service
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	ports     *porting.Service
	documents *document.Service
	letters   *loa.Service
	core      *httpapi.API
}

// New makes the area.
func New(c Config) httpapi.Area {
	a := &api{ports: c.Ports, documents: c.Documents, letters: c.Letters}
	return httpapi.Area{
		Build: a.serve,
		Wants: oas.Wants, NullIsAbsent: oas.NullIsAbsent,
		Absent:    a.absent,
		NoUploads: c.Documents == nil,
		Repeatable: map[string]func() httpapi.Answer{
			oas.InitiatePortOperation: func() httpapi.Answer { return new(oas.PortInitiationReply) },
		},
	}
}

// absent reports whether an operation has no service.
func (a *api) absent(operation string) bool {
	switch operation {
	case oas.UploadPortDocumentOperation:
		return a.documents == nil
	case oas.ShowLetterOperation, oas.SignLetterOperation, oas.DownloadLetterOperation, oas.GetPortLetterOperation, oas.DownloadPortLetterOperation:
		return a.letters == nil
	}
	return a.ports == nil
}

// serve makes the generated server of the area.
func (a *api) serve(core *httpapi.API) (httpapi.Server, error) {
	a.core = core
	server, err := httpapi.Generated(oas.NewServer(a, a, a, oas.WithErrorHandler(a.refuse),
		oas.WithMethodNotAllowed(httpapi.MethodNotAllowed), oas.WithMiddleware(core.Middleware, oneFile),
		oas.WithMaxMultipartMemory(httpapi.UploadMemory)))
	return pages{server}, err
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
