package agenttestapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// StreamTestRun serves GET /v1/agent-testing/runs/{id}/events. It streams the progress of a run.
func (a *api) StreamTestRun(ctx context.Context, params oas.StreamTestRunParams, w http.ResponseWriter) error {
	f, err := a.cfg.Tests.WatchRun(ctx, httpapi.Org(ctx), params.ID, params.LastEventID.Or(0))
	return watch(ctx, w, f, err, runProgress)
}

// StreamTestBatch serves GET /v1/agent-testing/batches/{id}/events. It streams the progress of a batch.
func (a *api) StreamTestBatch(ctx context.Context, params oas.StreamTestBatchParams, w http.ResponseWriter) error {
	f, err := a.cfg.Tests.WatchBatch(ctx, httpapi.Org(ctx), params.ID, params.LastEventID.Or(0))
	return watch(ctx, w, f, err, groupProgress)
}

// StreamTestSet serves GET /v1/agent-testing/simulation-sets/{id}/events. It streams the progress of a simulation set.
func (a *api) StreamTestSet(ctx context.Context, params oas.StreamTestSetParams, w http.ResponseWriter) error {
	f, err := a.cfg.Tests.WatchSet(ctx, httpapi.Org(ctx), params.ID, params.LastEventID.Or(0))
	return watch(ctx, w, f, err, groupProgress)
}

// encoder is implemented by the generated types of JSON.
type encoder interface{ Encode(e *jx.Encoder) }

// watch streams the states that a watcher returns, or returns err. A client that already has the final state receives 204, after which
// browsers do not reconnect.
func watch[T any](
	ctx context.Context, w http.ResponseWriter, f *node.RecordWatcher[T], err error, record func(T) encoder,
) error {
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Over() {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	next := func(ctx context.Context) ([]node.Revised[T], error) {
		r, err := f.Next(ctx)
		if err != nil {
			return nil, err
		}
		return []node.Revised[T]{r}, nil
	}
	httpapi.SendEvents(ctx, w, httpapi.Event{Comment: "progress follows"}, next, func(r node.Revised[T]) (httpapi.Event, error) {
		var data jx.Encoder
		record(r.Value).Encode(&data)
		return httpapi.Event{ID: strconv.FormatInt(r.Revision, 10), Name: "progress", Data: data.Bytes()}, nil
	})
	return nil
}

func runProgress(r run.Run) encoder {
	return &oas.TestRunProgress{
		ID: r.ID, Status: oas.TestRunStatus(r.State), TurnCount: r.Result.Turns, DurationMs: int(r.Result.Duration.Milliseconds()),
		OverallScore: wire.NilPtr(r.Result.Score), ErrorMessage: errorMessage(r), StartedAt: nilTime(r.StartedAt),
		CompletedAt: nilTime(r.EndedAt),
	}
}

func groupProgress(b group.Batch) encoder {
	return &oas.TestGroupProgress{
		ID: b.ID, Status: oas.TestRunStatus(b.State), TotalRuns: b.Total(), PassedRuns: b.Counts.Passed, FailedRuns: b.Counts.Failed,
		ErrorRuns: b.Counts.Error, CancelledRuns: b.Counts.Cancelled, StopReason: stopRecord(b), CompletedAt: nilTime(b.EndedAt),
	}
}
