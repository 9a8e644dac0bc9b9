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

// Config configures an API. Atomic and Idempotency are required if one of the areas has operations that accept an Idempotency-Key: calls,
// SIP, porting, agent testing and speech.
type Config struct {
	Access      Authenticator               `required:"always"`
	Atomic      callwright.Atomic           // runs an operation and stores its first answer in one transaction
	Idempotency callwright.IdempotencyStore // stores the first answers to requests with an Idempotency-Key

	Areas     []Area                      // served areas of the contract; any other path answers 404
	Voices    Voices                      // returns replacements of unknown voices; nil if none are replaced
	Reference http.Handler                // serves /openapi.yaml and /docs/, as package reference does; if nil, they answer 404
	Ready     func(context.Context) error // returns an *Error with the reason while this node is not ready; nil means always ready
	Warnings  func() []string             // problems that will stop this node unless fixed, for /readyz; nil means none
	Metrics   http.Handler                // serves /metrics; if nil, it answers 404
	Tracing   trace.TracerProvider        // nil disables tracing
	Metering  metric.MeterProvider        // nil disables measurements

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

// New returns the handler of the areas and the operational pages. It returns an error if the configuration is incomplete or an area's
// server cannot be built.
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

// repeatable reports whether an area has an operation that accepts an Idempotency-Key.
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

// Now returns the current time, by the clock of the API that serves the request of ctx.
func Now(ctx context.Context) time.Time { return infoOf(ctx).api.cfg.Clock.Now() }
