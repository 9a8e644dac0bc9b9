package triageapi

import (
	"context"
	"slices"

	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/triage"
)

// GetIssueActivity serves GET /v1/triage/issues/{id}/activity. It returns a page of an issue's feed, optionally with folded entries.
func (a *api) GetIssueActivity(ctx context.Context, params oas.GetIssueActivityParams) (*oas.TriageActivityReply, error) {
	page, err := a.cfg.Issues.Activity(ctx, httpapi.Org(ctx), params.ID, triage.PageRequest{
		Limit: params.Limit.Or(0), Cursor: params.Cursor.Or(""),
	})
	if err != nil {
		return nil, err
	}
	groups := slices.Collect(slices.Chunk(page.Items, 1))
	if params.Fold.Or(false) {
		groups = triage.Fold(page.Items)
	}
	answer := oas.TriageActivityPage{Items: make([]oas.TriageActivityItem, len(groups)), NextCursor: wire.NilText(page.Next)}
	for n, group := range groups {
		if answer.Items[n], err = activityItem(group[0], group[1:]...); err != nil {
			return nil, err
		}
	}
	return &oas.TriageActivityReply{Data: answer}, nil
}

// activityItem translates an entry of a feed, with the entries that are folded into it.
func activityItem(e triage.Entry, folded ...triage.Entry) (oas.TriageActivityItem, error) {
	if e.Kind == triage.KindAgent {
		entry, err := agentEntry(e)
		return oas.NewTriageAgentEntryTriageActivityItem(entry), err
	}
	entry, err := issueEntry(e)
	for _, other := range folded {
		if err != nil {
			break
		}
		var one oas.TriageIssueEntry
		one, err = issueEntry(other)
		entry.Folded = append(entry.Folded, oas.TriageFoldedEntry{
			ID: one.ID, Metadata: one.Metadata, Resources: one.Resources, CreatedAt: one.CreatedAt,
		})
	}
	return oas.NewTriageIssueEntryTriageActivityItem(entry), err
}

func issueEntry(e triage.Entry) (oas.TriageIssueEntry, error) {
	metadata, err := nilMetadata(e.Metadata)
	if err != nil {
		return oas.TriageIssueEntry{}, err
	}
	entry := oas.TriageIssueEntry{
		EntryKind: string(e.Kind), ID: e.ID, IssueID: e.IssueID, Type: oas.TriageIssueEntryType(e.Type),
		Actor: oas.NewNilTriageActor(actorRecord(e.Actor)), Detail: e.Detail, FromStatus: wire.NilText(string(e.FromStatus)),
		ToStatus: wire.NilText(string(e.ToStatus)), Metadata: metadata, ReferencedIssues: []oas.TriageIssueRef{}, CreatedAt: e.CreatedAt,
	}
	if entry.Resources, err = resourceRecords(e.Resources); err != nil {
		return oas.TriageIssueEntry{}, err
	}
	for _, other := range e.Referenced {
		entry.ReferencedIssues = append(entry.ReferencedIssues, issueShort(other))
	}
	return entry, nil
}

func agentEntry(e triage.Entry) (oas.TriageAgentEntry, error) {
	metadata, err := nilMetadata(e.Metadata)
	if err != nil {
		return oas.TriageAgentEntry{}, err
	}
	entry := oas.TriageAgentEntry{
		EntryKind: string(e.Kind), ID: e.ID, IssueID: e.IssueID, Type: oas.TriageAgentEntryType(e.Type),
		Actor: oas.NewNilTriageActor(actorRecord(e.Actor)), Detail: e.Detail, Metadata: metadata,
		AgentSession: sessionShort(*e.Session), CreatedAt: e.CreatedAt,
	}
	entry.Artifact.SetToNull()
	if e.Artifact != nil {
		artifact, err := artifactRecord(*e.Artifact)
		if err != nil {
			return oas.TriageAgentEntry{}, err
		}
		entry.Artifact.SetTo(artifact)
	}
	return entry, nil
}

func actorRecord(by triage.Actor) oas.TriageActor {
	return oas.TriageActor{
		Kind: oas.TriageActorKind(by.Kind), ID: by.ID, Label: by.Label, AvatarURL: wire.NilText(by.AvatarURL),
	}
}

func artifactRecord(made triage.Artifact) (oas.TriageArtifact, error) {
	record := oas.TriageArtifact{
		ID: made.ID, Type: made.Type, Title: made.Title, Renderer: wire.NilText(made.Renderer),
		Status: oas.TriageArtifactStatus(made.Status), ExternalUrls: append([]string{}, made.URLs...),
	}
	if made.Payload == nil {
		record.Payload.SetToNull()
		return record, nil
	}
	return record, record.Payload.Value.UnmarshalJSON(made.Payload)
}

// nilMetadata translates metadata, or returns null if there is none.
func nilMetadata(values map[string]any) (oas.NilMetadata, error) {
	raw, err := wire.Raw(values)
	return oas.NilMetadata{Value: raw, Null: len(values) == 0}, err
}
