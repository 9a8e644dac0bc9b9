package httpapi_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/callwright/callwright/transport/httpapi"
)

// tracing records the names, kinds and attributes of started spans.
type tracing struct {
	tracenoop.TracerProvider
	spans *[]string
}

func (p tracing) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{spans: p.spans} }

type tracer struct {
	tracenoop.Tracer
	spans *[]string
}

func (t tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	config := trace.NewSpanStartConfig(opts...)
	parts := []string{name, config.SpanKind().String()}
	for _, attr := range config.Attributes() {
		parts = append(parts, attr.Value.String())
	}
	*t.spans = append(*t.spans, strings.Join(parts, " "))
	return t.Tracer.Start(ctx, name, opts...)
}

// metering records the HTTP statuses of measurements.
type metering struct {
	metricnoop.MeterProvider
	statuses *[]int64
}

func (p metering) Meter(string, ...metric.MeterOption) metric.Meter {
	return meter{statuses: p.statuses}
}

type meter struct {
	metricnoop.Meter
	statuses *[]int64
}

func (m meter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return histogram{statuses: m.statuses}, nil
}

type histogram struct {
	metricnoop.Float64Histogram
	statuses *[]int64
}

func (h histogram) Record(_ context.Context, _ float64, opts ...metric.RecordOption) {
	attrs := metric.NewRecordConfig(opts).Attributes()
	status, _ := attrs.Value("http.response.status_code")
	*h.statuses = append(*h.statuses, status.AsInt64())
}

func TestOperationsAreTracedAndMeasured(t *testing.T) {
	t.Parallel()
	var spans []string
	var statuses []int64
	h := open(t, func(c *httpapi.Config) { c.Tracing, c.Metering = tracing{spans: &spans}, metering{statuses: &statuses} })
	h.want(http.StatusOK, "GET", "/v1/calls", "")
	h.want(http.StatusNotFound, "GET", "/v1/calls/secret-id", "")
	h.want(http.StatusNotFound, "GET", "/v1/nothing", "")
	h.do("GET", "/healthz", "")
	fallen := open(t, func(c *httpapi.Config) {
		c.Access, c.Metering = lockedDoor{}, metering{statuses: &statuses}
	})
	fallen.do("GET", "/v1/agents", "")
	if want := []string{"ListCalls server GET /v1/calls listCalls", "GetCall server GET /v1/calls/{call_id} getCall"}; !slices.Equal(spans, want) {
		t.Errorf("spans %q, want %q", spans, want)
	}
	if want := []int64{200, 404, 500}; !slices.Equal(statuses, want) {
		t.Errorf("measured the statuses %v, want %v", statuses, want)
	}
}
