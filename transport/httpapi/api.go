package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/middleware"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/transport/oas"
	"github.com/callwright/callwright/triage"
)

// Authenticator says whose key a request carries; transport/access has it.
type Authenticator interface {
	// Authenticate is the principal of a key; CodeAuthFailure for one that is not in force.
	Authenticate(ctx context.Context, key string) (callwright.Principal, error)
}

// Config is what the API needs. Access, Atomic and Idempotency are required. The operations of a service that is nil answer
// 501.
type Config struct {
	Access      Authenticator
	Atomic      callwright.Atomic
	Idempotency callwright.IdempotencyStore // first answers to requests with an Idempotency-Key

	Calls       *call.Service
	Agents      *agents.Service
	Pathways    *pathway.Service
	SIP         *sip.Service
	SIPCalls    *calllog.Service
	Discoveries *discovery.Service
	TestCalls   *testcall.Service
	Triage      *triage.Service

	BaseURL  string                      // of this server as its clients see it, for the URLs in answers; no slash at its end
	Ready    func(context.Context) error // why this node takes no requests now; nil: it always does
	Metrics  http.Handler                // serves /metrics; nil: nothing does
	Tracing  trace.TracerProvider        // nil: no traces
	Metering metric.MeterProvider        // nil: no measurements
	Clock    callwright.Clock            // nil: the machine's
	IDs      callwright.IDs              // nil: UUIDs
	Logger   *slog.Logger                // nil: discards
}

// api has a method for every operation: its own, and those that are not built of the generated stub.
type api struct {
	oas.UnimplementedHandler
	Config
	contract *oas.Server
}

// New is the handler of everything that the contract names, and of the operational pages.
func New(c Config) (http.Handler, error) {
	if c.Access == nil || c.Atomic == nil || c.Idempotency == nil {
		return nil, errors.New("httpapi: Access, Atomic and Idempotency are required")
	}
	a := &api{Config: c}
	a.setDefaults()
	var err error
	a.contract, err = oas.NewServer(a, a,
		oas.WithErrorHandler(a.handleError),
		oas.WithNotFound(a.notFound),
		oas.WithMethodNotAllowed(a.methodNotAllowed),
		oas.WithMiddleware(a.requireService, refuseNUL, a.answerOnce),
		oas.WithTracerProvider(a.Tracing),
		oas.WithMeterProvider(a.Metering),
	)
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (a *api) setDefaults() {
	if a.Ready == nil {
		a.Ready = func(context.Context) error { return nil }
	}
	if a.Metrics == nil {
		a.Metrics = http.HandlerFunc(a.notFound)
	}
	if a.Tracing == nil {
		a.Tracing = tracenoop.NewTracerProvider()
	}
	if a.Metering == nil {
		a.Metering = metricnoop.NewMeterProvider()
	}
	if a.Clock == nil {
		a.Clock = callwright.SystemClock{}
	}
	if a.IDs == nil {
		a.IDs = new(callwright.UUIDs)
	}
	if a.Logger == nil {
		a.Logger = slog.New(slog.DiscardHandler)
	}
}

// requireService refuses the operations that have no service here, before their methods would use it.
func (a *api) requireService(req middleware.Request, next middleware.Next) (middleware.Response, error) {
	absent := map[string]bool{
		"Calls": a.Calls == nil, "Inbound": a.Agents == nil, "Agents": a.Agents == nil, "Pathways": a.Pathways == nil, "Sip": a.SIP == nil,
		areaTriage:                a.Triage == nil,
		oas.ListSipCallsOperation: a.SIPCalls == nil, oas.GetSipCallTimelineOperation: a.SIPCalls == nil,
		oas.StartSipDiscoveryOperation: a.Discoveries == nil, oas.GetSipDiscoveryOperation: a.Discoveries == nil,
		oas.StartSipTestCallOperation: a.TestCalls == nil, oas.GetSipTestCallOperation: a.TestCalls == nil,
	}
	if absent[exchangeOf(req.Context).area] || absent[req.OperationName] {
		return middleware.Response{}, ht.ErrNotImplemented
	}
	return next(req)
}
