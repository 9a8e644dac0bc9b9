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
	count *prometheus.CounterVec
	rt    callwright.Runtime
}

func newCallEnds(rt callwright.Runtime) callEnds {
	return callEnds{prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "callwright", Name: "calls_ended_total", Help: "Calls of this node that have ended, by status and cause.",
	}, []string{"status", "cause"}), rt}
}

// observe counts and logs the end of a call, and ignores other observations. The service of calls uses it as call.Config.Observe.
func (e callEnds) observe(o call.Observation) {
	if o.What != call.ObservedEnded || o.Call.Ending == nil {
		return
	}
	c, level := o.Call, slog.LevelInfo
	if c.Ending.Cause == call.CauseDrained {
		level = slog.LevelWarn
	}
	e.count.WithLabelValues(string(c.Status), string(c.Ending.Cause)).Inc()
	attrs := []any{"call_id", c.ID, "org", c.Org, "status", c.Status, "cause", c.Ending.Cause, "reason", c.Ending.Reason}
	if s := o.Summary; s.Latency.Answers > 0 {
		attrs = append(attrs, "answers", s.Latency.Answers, "answer_p50", s.Latency.P50.Playing, "answer_p95", s.Latency.P95.Playing,
			"withdrawn", s.Withdrawn, "turns_cut", s.Cut, "model_calls", c.ModelCalls.All)
	}
	e.rt.Logger.Log(context.Background(), level, "call ended", attrs...)
}
