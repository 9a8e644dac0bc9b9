package platform

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

func TestCallEnds(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ends := newCallEnds(callwright.Runtime{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	registry := prometheus.NewRegistry()
	registry.MustRegister(ends.count)
	drained := call.Call{ID: "c1", Status: call.StatusFailed, Ending: &call.HangupReason{Cause: call.CauseDrained, Reason: "the server is stopping"}}
	ends.observe(call.Observation{What: call.ObservedAnswered, Call: drained})
	ends.observe(call.Observation{What: call.ObservedEnded, Call: drained})
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || len(families[0].GetMetric()) != 1 {
		t.Fatalf("the metrics are %v, %v", families, err)
	}
	m := families[0].GetMetric()[0]
	labels := map[string]string{}
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	if labels["cause"] != "drained" || labels["status"] != "failed" || m.GetCounter().GetValue() != 1 {
		t.Errorf("%s %v is %v", families[0].GetName(), labels, m.GetCounter().GetValue())
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=WARN") || !strings.Contains(text, "call_id=c1") || !strings.Contains(text, "cause=drained") {
		t.Errorf("the log is %s", text)
	}
}
