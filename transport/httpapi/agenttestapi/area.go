package agenttestapi

import (
	"context"
	"strings"

	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	tests    *agenttest.Service
	tornados *tornado.Service
	core     *httpapi.API
}

// New makes the area. Without a service its operations answer 501.
func New(tests *agenttest.Service, tornados *tornado.Service) httpapi.Area {
	a := &api{tests: tests, tornados: tornados}
	return httpapi.Area{
		Build: a.serve,
		Wants: oas.Wants, NullIsAbsent: oas.NullIsAbsent, Aliases: oas.Aliases,
		Absent: func(operation string) bool {
			if strings.Contains(operation, "Tornado") {
				return tornados == nil
			}
			return tests == nil
		},
		Repeatable: map[string]func() httpapi.Answer{
			oas.StartTestRunOperation:   func() httpapi.Answer { return new(oas.TestRunStartedReply) },
			oas.StartTestBatchOperation: func() httpapi.Answer { return new(oas.TestBatchStartedReply) },
			oas.CreateTestSetOperation:  func() httpapi.Answer { return new(oas.TestSetStartedReply) },
			oas.StartTornadoOperation:   func() httpapi.Answer { return new(oas.TornadoStartedReply) },
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
