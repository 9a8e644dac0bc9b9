package sipapi

import (
	"context"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/sipoas"
)

// Config names the services of the area. The operations of a service that is nil answer 501.
type Config struct {
	Trunks      *sip.Service
	Calls       *calllog.Service
	Setup       *setup.Service
	Discoveries *discovery.Service
	TestCalls   *testcall.Service
	Proofs      *proof.Service
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	trunks      *sip.Service
	calls       *calllog.Service
	setup       *setup.Service
	discoveries *discovery.Service
	testCalls   *testcall.Service
	proofs      *proof.Service
	core        *httpapi.API
}

// New makes the area.
func New(c Config) httpapi.Area {
	a := &api{trunks: c.Trunks, calls: c.Calls, setup: c.Setup, discoveries: c.Discoveries, testCalls: c.TestCalls, proofs: c.Proofs}
	return httpapi.Area{
		Build: a.serve,
		Wants: oas.Wants, NullIsAbsent: oas.NullIsAbsent,
		Absent: a.absent,
		Repeatable: map[string]func() httpapi.Answer{
			oas.AttachSipNumbersOperation: func() httpapi.Answer { return new(oas.SipAttachReply) },
		},
	}
}

// absent reports whether the service of an operation is nil. Without trunks there is nothing to look for or to test.
func (a *api) absent(operation string) bool {
	switch operation {
	case oas.ListSipCallsOperation, oas.GetSipCallTimelineOperation:
		return a.trunks == nil || a.calls == nil
	case oas.GetSipFirewallAddressesOperation, oas.GetSipOutboundSetupOperation:
		return a.trunks == nil || a.setup == nil
	case oas.StartSipDiscoveryOperation, oas.GetSipDiscoveryOperation:
		return a.trunks == nil || a.discoveries == nil
	case oas.StartSipTestCallOperation, oas.GetSipTestCallOperation:
		return a.trunks == nil || a.testCalls == nil
	case oas.StartSipNumberProofOperation, oas.GetSipNumberProofOperation, oas.VerifySipNumberProofOperation:
		return a.trunks == nil || a.proofs == nil
	default:
		return a.trunks == nil
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
