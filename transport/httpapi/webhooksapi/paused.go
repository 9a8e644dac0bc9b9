package webhooksapi

import (
	"context"

	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/webhooksoas"
)

// ListPausedWebhooks serves GET /v1/webhooks/paused. It returns the hosts to which the organization's messages are paused.
func (a *api) ListPausedWebhooks(ctx context.Context) (*oas.PausedWebhookListReply, error) {
	paused, err := a.cfg.Deliveries.Paused(ctx, httpapi.Org(ctx))
	if err != nil {
		return nil, err
	}
	reply := &oas.PausedWebhookListReply{Data: make([]oas.PausedWebhook, len(paused))}
	for i, e := range paused {
		reply.Data[i] = oas.PausedWebhook{
			Host: e.Host, FailingSince: e.Since.UTC(), Failures: e.Failures, LastFailure: e.Failure, LastAttemptAt: e.Last.UTC(), PausedAt: e.PausedAt.UTC(),
			NextAttemptAt: wire.NilPtr(e.TrialAt),
		}
	}
	return reply, nil
}

// ResumeWebhooks serves POST /v1/webhooks/resume. It ends the pause of messages to a host.
func (a *api) ResumeWebhooks(ctx context.Context, req *oas.WebhookResume) (*oas.MessageReply, error) {
	if err := a.cfg.Deliveries.Resume(ctx, httpapi.Org(ctx), req.Host); err != nil {
		return nil, err
	}
	return &oas.MessageReply{Status: oas.SuccessStatusSuccess, Message: "Messages to " + req.Host + " are sent within 25 minutes."}, nil
}
