package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/oas"
)

// Config configures an API. Atomic and Idempotency are required if one of the areas has operations that
// take an Idempotency-Key: calls, SIP, porting, agent testing and speech.
type Config struct {
	Access      Authenticator               `required:"always"`
	Atomic      callwright.Atomic           // makes one transaction of an operation and its first answer
	Idempotency callwright.IdempotencyStore // first answers to requests with an Idempotency-Key

	Areas     []Area                      // the parts of the contract to serve; any other path answers 404
	Voices    Voices                      // lists the replaced voices; nil: none is
	Reference http.Handler                // serves /openapi.yaml and /docs/, such as the handler of package reference; nil: nothing does
	Ready     func(context.Context) error // returns an *Error with the reason while this node takes no requests; nil: it always takes them
	Warnings  func() []string             // faults that will stop this node unless a person acts, for /readyz; nil: none
	Metrics   http.Handler                // serves /metrics; nil: nothing does
	Tracing   trace.TracerProvider        // nil: no traces
	Metering  metric.MeterProvider        // nil: no measurements

	callwright.Runtime
}

// API serves areas of the contract and the operational pages.
type API struct {
	cfg                Config
	areas              []mounted
	bodies             *bodies
	telemetry          telemetry
	unauthenticatedLog callwright.UnauthenticatedLog
	notReady           callwright.Outage
}

// mounted is an area with its generated server.
type mounted struct {
	*Area
	server Server
}

// New builds the handler of the areas and of the operational pages.
func New(c Config) (*API, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if (c.Atomic == nil || c.Idempotency == nil) && repeatable(c.Areas) {
		return nil, errors.New("httpapi: an area has operations that take an Idempotency-Key: set Config.Atomic and Config.Idempotency")
	}
	a := &API{cfg: withDefaults(c), bodies: newBodies()}
	a.unauthenticatedLog.Logger = a.cfg.Logger
	var err error
	if a.telemetry, err = newTelemetry(c.Tracing, c.Metering); err != nil {
		return nil, err
	}
	core := oas.Core{
		Authorize: a.authorize, NewFailure: NewFailure, HandleError: refuse, MethodNotAllowed: methodNotAllowed, Middleware: a.middleware,
		UploadMemory: uploadMemory,
	}
	for _, area := range c.Areas {
		server, err := area.Serve(core)
		if err == nil && area.Wrap != nil {
			server, err = area.Wrap(server)
		}
		if err != nil {
			return nil, err
		}
		a.areas = append(a.areas, mounted{&area, server})
	}
	return a, nil
}

// repeatable reports whether an area has an operation that takes an Idempotency-Key.
func repeatable(areas []Area) bool {
	return slices.ContainsFunc(areas, func(a Area) bool { return len(a.Repeatable) > 0 })
}

func withDefaults(c Config) Config {
	if c.Reference == nil {
		c.Reference = http.HandlerFunc(NotFound)
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) error { return nil }
	}
	if c.Warnings == nil {
		c.Warnings = func() []string { return nil }
	}
	if c.Metrics == nil {
		c.Metrics = http.HandlerFunc(NotFound)
	}
	return c
}

// Now returns the time of the clock of the API that serves the request of a context.
func Now(ctx context.Context) time.Time { return infoOf(ctx).api.cfg.Clock.Now() }
