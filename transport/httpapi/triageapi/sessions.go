package triageapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/triage"
)

// StartIssueAgentSession serves POST /v1/triage/issues/{id}/agent-sessions. It starts a session of an external agent.
func (a *api) StartIssueAgentSession(
	ctx context.Context, req *oas.TriageSessionCreate, params oas.StartIssueAgentSessionParams,
) (*oas.TriageSessionReply, error) {
	s, err := a.cfg.Issues.StartSession(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, triage.SessionDraft{
		AgentName: req.AgentName, ProfileID: req.AgentProfileID.Or(""), Detail: req.Detail.Or(""),
	})
	httpapi.LogID(ctx, "session_id", s.ID)
	return sessionReply(s, err)
}

// AnalyzeIssue serves POST /v1/triage/issues/{id}/analysis. It starts a session of this server's analyst.
func (a *api) AnalyzeIssue(
	ctx context.Context, req *oas.TriageAnalysisCreate, params oas.AnalyzeIssueParams,
) (*oas.TriageSessionReply, error) {
	s, err := a.cfg.Issues.Analyze(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, req.Prompt.Or(""))
	httpapi.LogID(ctx, "session_id", s.ID)
	return sessionReply(s, err)
}

// GetIssueAgentSession serves GET /v1/triage/issues/{id}/agent-sessions/{session_id}. It returns the current state of a session.
func (a *api) GetIssueAgentSession(
	ctx context.Context, params oas.GetIssueAgentSessionParams,
) (*oas.TriageSessionReply, error) {
	s, err := a.cfg.Issues.Session(ctx, httpapi.Org(ctx), params.ID, params.SessionID)
	return sessionReply(s, err)
}

func sessionReply(s triage.Session, err error) (*oas.TriageSessionReply, error) {
	if err != nil {
		return nil, err
	}
	return &oas.TriageSessionReply{Data: oas.TriageSession{
		ID: s.ID, IssueID: s.IssueID, AgentProfileID: wire.NilText(s.ProfileID), AgentName: s.AgentName,
		Status: oas.TriageSessionStatus(s.Status), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, EndedAt: wire.NilPtr(s.EndedAt),
	}}, nil
}

func sessionShort(s triage.SessionRef) oas.TriageSessionRef {
	return oas.TriageSessionRef{
		ID: s.ID, AgentProfileID: wire.NilText(s.ProfileID), AgentName: s.AgentName, Status: oas.TriageSessionStatus(s.Status),
	}
}

// AddIssueAgentEntry serves POST /v1/triage/issues/{id}/agent-sessions/{session_id}/entries. It appends an entry to a session: a caller's
// message to the agent, a caller's request to stop, or an action of the agent.
func (a *api) AddIssueAgentEntry(
	ctx context.Context, req *oas.TriageAgentEntryCreate, params oas.AddIssueAgentEntryParams,
) (*oas.TriageAgentEntryReply, error) {
	step, err := stepOf(req)
	if err != nil {
		return nil, err
	}
	e, err := a.addStep(ctx, params, step)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "entry_id", e.ID)
	entry, err := agentEntry(e)
	return &oas.TriageAgentEntryReply{Data: entry}, err
}

func (a *api) addStep(ctx context.Context, params oas.AddIssueAgentEntryParams, step triage.Step) (triage.Entry, error) {
	org, by, id, session := httpapi.Org(ctx), actorOf(ctx), params.ID, params.SessionID
	prompts := step.Type == triage.TypePrompt
	cancels := step.Type == triage.TypeSessionStopped && step.Status == triage.SessionCancelled
	switch {
	case (prompts || cancels) && step.Artifact != nil:
		return triage.Entry{}, callwright.Invalid("artifact", "must not be set in a prompt or a cancellation: only steps of the agent have an artifact")
	case (prompts || cancels) && step.Metadata != nil:
		return triage.Entry{}, callwright.Invalid("metadata", "must not be set in a prompt or a cancellation: only steps of the agent have metadata")
	case prompts && step.Status != "":
		return triage.Entry{}, callwright.Invalid("session_status", "must not be set in a prompt")
	case prompts:
		return a.cfg.Issues.Answer(ctx, org, by, id, session, step.Detail)
	case cancels:
		return a.cfg.Issues.Cancel(ctx, org, by, id, session, step.Detail)
	}
	entries, err := a.cfg.Issues.Append(ctx, org, id, session, step)
	if err != nil {
		return triage.Entry{}, err
	}
	return entries[0], nil
}

func stepOf(req *oas.TriageAgentEntryCreate) (triage.Step, error) {
	metadata, err := wire.Values("metadata", req.Metadata.Value)
	if err != nil {
		return triage.Step{}, err
	}
	step := triage.Step{
		Type: triage.EntryType(req.Type), Detail: req.Detail.Or(""), Metadata: metadata,
		Status: triage.SessionStatus(req.SessionStatus.Or("")),
	}
	made, ok := req.Artifact.Get()
	if !ok {
		return step, nil
	}
	step.Artifact = &triage.Artifact{
		ID: made.ID.Or(""), Type: made.Type, Title: made.Title, Renderer: made.Renderer.Or(""),
		Status: triage.ArtifactStatus(made.Status.Or("")), URLs: made.ExternalUrls,
	}
	if made.Payload.Set {
		step.Artifact.Payload, err = made.Payload.Value.MarshalJSON() // json.Marshal would escape HTML characters
	}
	return step, err
}
