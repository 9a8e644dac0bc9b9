package httpapi

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// telemetry traces and measures requests for operations according to OpenTelemetry's conventions for HTTP servers.
type telemetry struct {
	tracer   trace.Tracer
	duration metric.Float64Histogram
}

// telemetryName is the name of the instrumentation scope.
const telemetryName = "github.com/callwright/callwright/transport/httpapi"

func newTelemetry(tracing trace.TracerProvider, metering metric.MeterProvider) (telemetry, error) {
	if tracing == nil {
		tracing = tracenoop.NewTracerProvider()
	}
	if metering == nil {
		metering = metricnoop.NewMeterProvider()
	}
	duration, err := metering.Meter(telemetryName).Float64Histogram("http.server.request.duration",
		metric.WithUnit("s"), metric.WithDescription("Duration of HTTP server requests."))
	return telemetry{tracing.Tracer(telemetryName), duration}, err
}

// observe calls the function serve, and traces and measures this call as a request for an operation. When serve has returned or panicked,
// observe calls the function result.
func (t telemetry) observe(
	ctx context.Context, method string, o Operation, serve func(context.Context), result func() (status int, failure error),
) {
	attrs := []attribute.KeyValue{
		attribute.String("http.request.method", method), attribute.String("http.route", o.Path),
		attribute.String("oas.operation", o.ID),
	}
	ctx, span := t.tracer.Start(ctx, o.Name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...))
	began := time.Now()
	defer func() {
		status, failure := result()
		if status == 0 { // the handler panicked before its answer
			status = http.StatusInternalServerError
		}
		attrs = append(attrs, attribute.Int("http.response.status_code", status))
		span.SetAttributes(attrs...)
		if failure != nil {
			span.RecordError(failure)
		}
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
		t.duration.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(attrs...))
	}()
	serve(ctx)
}
