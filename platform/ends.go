package platform

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// callEnds counts and logs how calls end.
type callEnds struct {
	count        *prometheus.CounterVec
	unrecognized *prometheus.CounterVec
	rt           callwright.Runtime
}

func newCallEnds(rt callwright.Runtime) callEnds {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "callwright", Name: name, Help: help}, labels)
	}
	return callEnds{
		count:        counter("calls_ended_total", "Calls of this node that have ended, by status and cause.", "status", "cause"),
		unrecognized: counter("words_unrecognized_total", "Times that the recognizer returned no words for a caller's voice, by reason.", "reason"),
		rt:           rt,
	}
}

// observe counts and logs the end of a call, and counts words that were not recognized. It ignores other observations. The service of calls
// uses it as call.Config.Observe.
func (e callEnds) observe(o call.Observation) {
	if why := o.Line.Unrecognized; o.What == call.ObservedLine && why != "" {
		e.unrecognized.WithLabelValues(string(why)).Inc()
	}
	if o.What != call.ObservedEnded || o.Call.Ending == nil {
		return
	}
	c, level := o.Call, slog.LevelInfo
	if c.Ending.Cause == call.CauseDrained {
		level = slog.LevelWarn
	}
	e.count.WithLabelValues(string(c.Status), string(c.Ending.Cause)).Inc()
	attrs := []any{"call_id", c.ID, "org", c.Org, "status", c.Status, "cause", c.Ending.Cause, "reason", c.Ending.Reason}
	if n := o.Summary.Unrecognized; n > 0 {
		attrs = append(attrs, "unrecognized", n)
	}
	if s := o.Summary; s.Latency.Answers > 0 {
		attrs = append(attrs, "answers", s.Latency.Answers, "answer_p50", s.Latency.P50.Playing, "answer_p95", s.Latency.P95.Playing,
			"withdrawn", s.Withdrawn, "turns_cut", s.Cut, "model_calls", c.ModelCalls.All)
	}
	e.rt.Logger.Log(context.Background(), level, "call ended", attrs...)
}
