package platform

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
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

// TestUnrecognizedWordsAreCounted checks the metric of words that were not recognized, and their number in the log.
func TestUnrecognizedWordsAreCounted(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ends := newCallEnds(callwright.Runtime{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	registry := prometheus.NewRegistry()
	registry.MustRegister(ends.unrecognized)
	for _, why := range []conversation.Unrecognized{"", conversation.UnrecognizedTimeout, conversation.UnrecognizedTimeout} {
		ends.observe(call.Observation{What: call.ObservedLine, Line: call.Entry{Unrecognized: why}})
	}
	ends.observe(call.Observation{
		What: call.ObservedEnded, Call: call.Call{ID: "c1", Ending: &call.HangupReason{Cause: call.CauseLocalHangup}}, Summary: call.Summary{Unrecognized: 2},
	})
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || len(families[0].GetMetric()) != 1 {
		t.Fatalf("the metrics are %v, %v", families, err)
	}
	if m := families[0].GetMetric()[0]; m.GetLabel()[0].GetValue() != "timeout" || m.GetCounter().GetValue() != 2 || !strings.Contains(log.String(), "unrecognized=2") {
		t.Errorf("the metric is %v, the log %s", m, log.String())
	}
}

// TestCallEndsWithQuantiles checks that the log of a call's end has the quantiles of its answers.
func TestCallEndsWithQuantiles(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ends := newCallEnds(callwright.Runtime{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ends.observe(call.Observation{
		What: call.ObservedEnded, Call: call.Call{ID: "c1", Ending: &call.HangupReason{Cause: call.CauseLocalHangup}, ModelCalls: call.ModelCalls{All: 9}},
		Summary: call.Summary{Withdrawn: 2, Cut: 1, Latency: call.LatencyQuantile{
			Answers: 7, P50: conversation.Latency{Playing: 640 * time.Millisecond}, P95: conversation.Latency{Playing: 1100 * time.Millisecond},
		}},
	})
	if text := log.String(); !strings.Contains(text, "answers=7 answer_p50=640ms answer_p95=1.1s withdrawn=2 turns_cut=1 model_calls=9") {
		t.Errorf("the log is %s", text)
	}
}
