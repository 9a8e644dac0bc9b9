package pathwaysapi

import (
	"context"
	"encoding/json"

	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// success is the status of successful answers in envelope B.
const success = "success"

// CreatePathway serves POST /v1/pathway/create. It creates a pathway with a draft.
func (a *api) CreatePathway(ctx context.Context, req *oas.PathwayCreate) (*oas.PathwayCreatedReply, error) {
	p, err := a.cfg.Pathways.Create(ctx, httpapi.Org(ctx), pathway.Draft{
		Name: req.Name, Description: req.Description.Or(""), Document: documentOf(req.Nodes, req.Edges),
	})
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "pathway_id", p.ID)
	return &oas.PathwayCreatedReply{Status: success, PathwayID: p.ID, Warnings: a.cfg.Pathways.Warnings(p.Draft)}, nil
}

// ListPathways serves GET /v1/pathway. It returns a page of pathways without their graphs.
func (a *api) ListPathways(ctx context.Context, params oas.ListPathwaysParams) (oas.PathwayList, error) {
	page, err := a.cfg.Pathways.List(ctx, httpapi.Org(ctx), pathway.Listing{Limit: params.Limit.Or(0), Offset: params.Offset.Or(0)})
	if err != nil {
		return nil, err
	}
	answer := make(oas.PathwayList, len(page.Items))
	for i, p := range page.Items {
		answer[i] = pathwaySummary(p)
	}
	return answer, nil
}

// GetPathway serves GET /v1/pathway/{id}. It returns a pathway with its draft.
func (a *api) GetPathway(ctx context.Context, params oas.GetPathwayParams) (*oas.Pathway, error) {
	p, err := a.cfg.Pathways.Get(ctx, httpapi.Org(ctx), params.ID)
	if err != nil {
		return nil, err
	}
	answer := pathwayRecord(p)
	return &answer, nil
}

// UpdatePathway serves POST /v1/pathway/{id}. It changes a pathway and its draft.
func (a *api) UpdatePathway(
	ctx context.Context, req *oas.PathwayUpdate, params oas.UpdatePathwayParams,
) (*oas.PathwayUpdatedReply, error) {
	change := pathway.Change{Name: wire.Ptr(req.Name.Get()), Description: wire.Ptr(req.Description.Get())}
	if req.Nodes != nil {
		change.Nodes = new(wire.Items[json.RawMessage](req.Nodes))
	}
	if req.Edges != nil {
		change.Edges = new(wire.Items[json.RawMessage](req.Edges))
	}
	p, err := a.cfg.Pathways.Update(ctx, httpapi.Org(ctx), params.ID, change)
	if err != nil {
		return nil, err
	}
	return &oas.PathwayUpdatedReply{
		Status: success, Message: "Pathway updated.", PathwayData: pathwayRecord(p), Warnings: a.cfg.Pathways.Warnings(p.Draft),
	}, nil
}

// DeletePathway serves DELETE /v1/pathway/{id}. It deletes a pathway.
func (a *api) DeletePathway(ctx context.Context, params oas.DeletePathwayParams) (*oas.PathwayDeletedReply, error) {
	if err := a.cfg.Pathways.Delete(ctx, httpapi.Org(ctx), params.ID); err != nil {
		return nil, err
	}
	return &oas.PathwayDeletedReply{Status: success, Message: "Pathway deleted."}, nil
}

func pathwayRecord(p pathway.Pathway) oas.Pathway {
	s := pathwaySummary(p)
	return oas.Pathway{
		ID: s.ID, Name: s.Name, Description: s.Description,
		Nodes: wire.Items[oas.PathwayNode](p.Draft.Nodes), Edges: wire.Items[oas.PathwayEdge](p.Draft.Edges),
		ProductionVersionNumber: s.ProductionVersionNumber, StagingVersionNumber: s.StagingVersionNumber,
		Promotion: s.Promotion, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
}

func pathwaySummary(p pathway.Pathway) oas.PathwaySummary {
	answer := oas.PathwaySummary{
		ID: p.ID, Name: p.Name, Description: p.Description,
		ProductionVersionNumber: wire.NilInt(p.Production), StagingVersionNumber: wire.NilInt(p.Staging),
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
	answer.Promotion.SetToNull()
	if p.Promotion != nil {
		answer.Promotion.SetTo(oas.PathwayPromotion{
			VersionNumber: p.Promotion.Number, BatchID: wire.NilText(p.Promotion.Batch),
		})
	}
	return answer
}

// documentOf translates a graph. It does not decode the nodes and edges.
func documentOf(nodes []oas.PathwayNode, edges []oas.PathwayEdge) graph.Document {
	return graph.Document{Nodes: wire.Items[json.RawMessage](nodes), Edges: wire.Items[json.RawMessage](edges)}
}
