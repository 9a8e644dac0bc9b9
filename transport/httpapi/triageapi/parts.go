package triageapi

import (
	"context"

	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/triageoas"
	"github.com/callwright/callwright/triage"
)

// AddIssueComment serves POST /v1/triage/issues/{id}/comments. It adds a comment to an issue.
func (a *api) AddIssueComment(
	ctx context.Context, req *oas.TriageCommentCreate, params oas.AddIssueCommentParams,
) (*oas.TriageIssueEntryReply, error) {
	e, err := a.cfg.Issues.Comment(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, triage.CommentDraft{
		Detail: req.Detail, Links: wire.IDs(req.ResourceLinkIds),
	})
	httpapi.LogID(ctx, "entry_id", e.ID)
	return issueEntryReply(e, err)
}

// EditIssueComment serves PATCH /v1/triage/issues/{id}/comments/{comment_id}. It changes the text of a comment.
func (a *api) EditIssueComment(
	ctx context.Context, req *oas.TriageCommentEdit, params oas.EditIssueCommentParams,
) (*oas.TriageIssueEntryReply, error) {
	e, err := a.cfg.Issues.EditComment(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, params.CommentID, req.Detail)
	return issueEntryReply(e, err)
}

// DeleteIssueComment serves DELETE /v1/triage/issues/{id}/comments/{comment_id}. It deletes a comment.
func (a *api) DeleteIssueComment(ctx context.Context, params oas.DeleteIssueCommentParams) error {
	_, err := a.cfg.Issues.DeleteComment(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, params.CommentID)
	return err
}

func issueEntryReply(e triage.Entry, err error) (*oas.TriageIssueEntryReply, error) {
	if err != nil {
		return nil, err
	}
	entry, err := issueEntry(e)
	return &oas.TriageIssueEntryReply{Data: entry}, err
}

// AddIssueFlag serves POST /v1/triage/issues/{id}/flags. It flags an attached call, or a message or node of the call.
func (a *api) AddIssueFlag(
	ctx context.Context, req *oas.TriageFlagCreate, params oas.AddIssueFlagParams,
) (*oas.TriageFlagReply, error) {
	f, err := a.cfg.Issues.Flag(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, triage.FlagDraft{
		CallID: wire.ID(req.CallID), Type: req.Type, Note: req.Note.Or(""), NodeID: req.NodeID.Or(""), NodeName: req.NodeName.Or(""),
		MessageIndex: wire.Ptr(req.MessageIndex.Get()), MessageText: req.MessageText.Or(""),
	})
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "flag_id", f.ID)
	return &oas.TriageFlagReply{Data: flagRecord(f)}, nil
}

// ListIssueFlags serves GET /v1/triage/issues/{id}/flags. It returns all flags of an issue.
func (a *api) ListIssueFlags(ctx context.Context, params oas.ListIssueFlagsParams) (*oas.TriageFlagListReply, error) {
	flags, err := a.cfg.Issues.Flags(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	answer := &oas.TriageFlagListReply{Data: make([]oas.TriageFlag, len(flags))}
	for n, f := range flags {
		answer.Data[n] = flagRecord(f)
	}
	return answer, nil
}

// RemoveIssueFlag serves DELETE /v1/triage/issues/{id}/flags/{flag_id}. It deletes a flag.
func (a *api) RemoveIssueFlag(ctx context.Context, params oas.RemoveIssueFlagParams) error {
	return a.cfg.Issues.Unflag(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, params.FlagID)
}

func flagRecord(f triage.Flag) oas.TriageFlag {
	record := oas.TriageFlag{
		ID: f.ID, IssueID: f.IssueID, CallID: f.CallID, Type: f.Type, Note: wire.NilText(f.Note), NodeID: wire.NilText(f.NodeID),
		NodeName: wire.NilText(f.NodeName), MessageText: wire.NilText(f.MessageText), CreatedByID: wire.NilText(f.CreatedBy), CreatedAt: f.CreatedAt,
	}
	record.MessageIndex.SetToNull()
	if f.MessageIndex != nil {
		record.MessageIndex.SetTo(*f.MessageIndex)
	}
	return record
}

// AttachIssueResource serves POST /v1/triage/issues/{id}/resources. It attaches a resource and answers 201, or 200 if the resource was
// already attached.
func (a *api) AttachIssueResource(
	ctx context.Context, req *oas.TriageResourceCreate, params oas.AttachIssueResourceParams,
) (oas.AttachIssueResourceRes, error) {
	resource := req.ResourceID
	if req.ResourceType == oas.TriageResourceTypeCall { // ids of other types belong to other systems
		resource = wire.ID(resource)
	}
	r, added, err := a.cfg.Issues.Attach(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, triage.ResourceDraft{
		Type: triage.ResourceType(req.ResourceType), ResourceID: resource, Title: req.Title.Or(""),
	})
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "resource_id", r.ID)
	record, err := resourceRecord(r)
	if err != nil {
		return nil, err
	}
	if added {
		return &oas.AttachIssueResourceCreated{Data: record}, nil
	}
	return &oas.AttachIssueResourceOK{Data: record}, nil
}

// ListIssueResources serves GET /v1/triage/issues/{id}/resources. It returns all resources that are attached to an issue.
func (a *api) ListIssueResources(
	ctx context.Context, params oas.ListIssueResourcesParams,
) (*oas.TriageResourceListReply, error) {
	resources, err := a.cfg.Issues.Resources(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	records, err := resourceRecords(resources)
	return &oas.TriageResourceListReply{Data: records}, err
}

// DetachIssueResource serves DELETE /v1/triage/issues/{id}/resources/{resource_id}. It deletes an attachment.
func (a *api) DetachIssueResource(ctx context.Context, params oas.DetachIssueResourceParams) error {
	return a.cfg.Issues.Detach(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, params.ResourceID)
}

func resourceRecord(r triage.Resource) (oas.TriageResource, error) {
	metadata, err := wire.Raw(r.Metadata)
	return oas.TriageResource{
		ID: r.ID, IssueID: r.IssueID, OrgID: string(r.Org), ResourceType: oas.TriageResourceType(r.Type),
		ResourceID: r.ResourceID, Title: r.Title, Status: oas.TriageResourceStatus(r.Status), Metadata: metadata,
		AttachedByID: wire.NilText(r.AttachedBy), CreatedAt: r.CreatedAt,
	}, err
}

func resourceRecords(resources []triage.Resource) ([]oas.TriageResource, error) {
	records := make([]oas.TriageResource, len(resources))
	for n, r := range resources {
		var err error
		if records[n], err = resourceRecord(r); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// RelateIssue serves POST /v1/triage/issues/{id}/relations. It relates an issue to another and answers 201, or 200 if the relation existed.
func (a *api) RelateIssue(
	ctx context.Context, req *oas.TriageRelationCreate, params oas.RelateIssueParams,
) (oas.RelateIssueRes, error) {
	r, added, err := a.cfg.Issues.Relate(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, wire.ID(req.RelatedIssueID),
		triage.RelationType(req.RelationType))
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "relation_id", r.ID)
	record := relationRecord(r, params.ID)
	if added {
		return &oas.RelateIssueCreated{Data: record}, nil
	}
	return &oas.RelateIssueOK{Data: record}, nil
}

// ListIssueRelations serves GET /v1/triage/issues/{id}/relations. It returns all relations of an issue.
func (a *api) ListIssueRelations(
	ctx context.Context, params oas.ListIssueRelationsParams,
) (*oas.TriageRelationListReply, error) {
	relations, err := a.cfg.Issues.Relations(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	answer := &oas.TriageRelationListReply{Data: make([]oas.TriageRelation, len(relations))}
	for n, r := range relations {
		answer.Data[n] = relationRecord(r, params.ID)
	}
	return answer, nil
}

// UnrelateIssue serves DELETE /v1/triage/issues/{id}/relations/{relation_id}. It deletes a relation.
func (a *api) UnrelateIssue(ctx context.Context, params oas.UnrelateIssueParams) error {
	return a.cfg.Issues.Unrelate(ctx, httpapi.Org(ctx), actorOf(ctx), params.ID, params.RelationID)
}

// relationRecord translates a relation from the point of view of one of its issues.
func relationRecord(r triage.Relation, issue string) oas.TriageRelation {
	record := oas.TriageRelation{
		ID: r.ID, IssueID: issue, RelationType: oas.TriageRelationType(r.Type), Direction: oas.TriageRelationDirectionOutgoing,
		RelatedIssue: issueShort(r.To), CreatedByID: wire.NilText(r.CreatedBy), CreatedAt: r.CreatedAt,
	}
	if r.To.ID == issue {
		record.Direction, record.RelatedIssue = oas.TriageRelationDirectionIncoming, issueShort(r.From)
	}
	return record
}
