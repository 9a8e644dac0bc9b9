package pathwaysapi

import (
	"context"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/pathwaywire"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// CreatePathwayVersion serves POST /v1/pathway/{id}/version. It stores a graph as the next version.
func (a *api) CreatePathwayVersion(
	ctx context.Context, req *oas.PathwayVersionCreate, params oas.CreatePathwayVersionParams,
) (*oas.PathwayVersionCreatedReply, error) {
	v, err := a.cfg.Pathways.StoreVersion(ctx, httpapi.Org(ctx), params.ID, req.Name, documentOf(req.Nodes, req.Edges))
	if err != nil {
		return nil, err
	}
	return a.versionCreated(ctx, v), nil
}

// ForkPathwayVersion serves POST /v1/pathway/{id}/version/{version}/fork. It stores a new version whose parent is the given version. The
// graph is the graph in the body or, without one, the parent's graph.
func (a *api) ForkPathwayVersion(
	ctx context.Context, req *oas.PathwayFork, params oas.ForkPathwayVersionParams,
) (*oas.PathwayVersionCreatedReply, error) {
	var document *graph.Document
	switch {
	case req.Nodes != nil && req.Edges != nil:
		document = new(documentOf(req.Nodes, req.Edges))
	case req.Nodes != nil:
		return nil, callwright.Invalid("edges", "is required with nodes")
	case req.Edges != nil:
		return nil, callwright.Invalid("nodes", "is required with edges")
	}
	v, err := a.cfg.Pathways.Fork(ctx, httpapi.Org(ctx), params.ID, params.Version, req.Name, document)
	if err != nil {
		return nil, err
	}
	return a.versionCreated(ctx, v), nil
}

func (a *api) versionCreated(ctx context.Context, v pathway.Version) *oas.PathwayVersionCreatedReply {
	httpapi.LogID(ctx, "version_id", v.ID)
	return &oas.PathwayVersionCreatedReply{
		Status: success, Message: "Version created.",
		Data:     oas.PathwayVersionInfo{ID: v.ID, Name: v.Name, VersionNumber: v.Number, CreatedAt: v.CreatedAt},
		Warnings: a.cfg.Pathways.Warnings(v.Document),
	}
}

// ListPathwayVersions serves GET /v1/pathway/{id}/versions. It returns the newest versions that are not archived, at most
// pathway.MaxPageOfVersions.
func (a *api) ListPathwayVersions(
	ctx context.Context, params oas.ListPathwayVersionsParams,
) (oas.PathwayVersionList, error) {
	page, p, err := a.cfg.Pathways.Versions(ctx, httpapi.Org(ctx), params.ID, callwright.Keyset{}, pathway.MaxPageOfVersions)
	if err != nil {
		return nil, err
	}
	answer := make(oas.PathwayVersionList, len(page.Items))
	for i, v := range page.Items {
		parent := wire.NilInt(v.Parent)
		answer[i] = oas.PathwayVersionItem{
			ID: v.ID, VersionNumber: v.Number, CreatedAt: v.CreatedAt, Name: v.Name, IsLatest: v.Number == p.Latest,
			ParentVersionNumber: oas.OptNilInt{Value: parent.Value, Set: true, Null: parent.Null},
			Environments:        []oas.PathwayEnvironment{},
		}
		if v.Number == p.Production {
			answer[i].Environments = append(answer[i].Environments, oas.PathwayEnvironmentProduction)
		}
		if v.Number == p.Staging {
			answer[i].Environments = append(answer[i].Environments, oas.PathwayEnvironmentStaging)
		}
	}
	return answer, nil
}

// GetPathwayVersion serves GET /v1/pathway/{id}/version/{version}. It returns a version with its graph.
func (a *api) GetPathwayVersion(
	ctx context.Context, params oas.GetPathwayVersionParams,
) (*oas.PathwayVersion, error) {
	v, p, err := a.cfg.Pathways.Version(ctx, httpapi.Org(ctx), params.ID, params.Version)
	if err != nil {
		return nil, err
	}
	return &oas.PathwayVersion{
		Name: v.Name, Nodes: wire.Items[oas.PathwayNode](v.Document.Nodes), Edges: wire.Items[oas.PathwayEdge](v.Document.Edges),
		VersionNumber: v.Number, IsLatest: v.Number != 0 && v.Number == p.Latest,
	}, nil
}

// DeletePathwayVersion serves DELETE /v1/pathway/{id}/version/{version}. It archives a version.
func (a *api) DeletePathwayVersion(
	ctx context.Context, params oas.DeletePathwayVersionParams,
) (*oas.PathwayDeletedReply, error) {
	if err := a.cfg.Pathways.Discard(ctx, httpapi.Org(ctx), params.ID, params.Version); err != nil {
		return nil, err
	}
	return &oas.PathwayDeletedReply{Status: success, Message: "Version archived."}, nil
}

// DiffPathwayVersion serves GET /v1/pathway/{id}/version/{version}/diff. It returns the differences of two versions.
func (a *api) DiffPathwayVersion(
	ctx context.Context, params oas.DiffPathwayVersionParams,
) (*oas.PathwayDiffReply, error) {
	changes, err := a.cfg.Pathways.Diff(ctx, httpapi.Org(ctx), params.ID, params.Against, params.Version)
	if err != nil {
		return nil, err
	}
	return &oas.PathwayDiffReply{Data: oas.PathwayDiff{
		VersionNumber: params.Version, Against: params.Against,
		Nodes: differences(changes.Nodes), Edges: differences(changes.Edges), Reordered: changes.Reordered,
	}}, nil
}

func differences(list []graph.Difference) []oas.PathwayDifference {
	return pathwaywire.Differences(list,
		func(id, name wire.Nil[string], kind graph.DifferenceKind, members []oas.PathwayMemberDifference) oas.PathwayDifference {
			return oas.PathwayDifference{ID: id, Name: name, Kind: oas.PathwayDifferenceKind(kind), Members: members}
		},
		func(path string, before, after wire.Nil[string]) oas.PathwayMemberDifference {
			return oas.PathwayMemberDifference{Path: path, Before: before, After: after}
		})
}

// PublishPathway serves POST /v1/pathway/{id}/publish. It publishes a version immediately, or after its tests have passed.
func (a *api) PublishPathway(
	ctx context.Context, req *oas.PathwayPublish, params oas.PublishPathwayParams,
) (*oas.PathwayPublished, error) {
	environment := pathway.Environment(req.Environment.Or(oas.PathwayPublishEnvironmentProduction))
	done, err := a.cfg.Pathways.Publish(ctx, httpapi.Org(ctx), params.ID, pathway.Publication{
		Number: req.VersionID, Environment: environment, OnPass: req.PublishOnPass.Or(false),
	})
	if err != nil {
		return nil, err
	}
	answer := &oas.PathwayPublished{
		Message:   fmt.Sprintf("Version %d is in %s.", req.VersionID, environment),
		Published: done.Published, BatchID: wire.NilText(done.Batch),
	}
	if !done.Published {
		answer.Message = fmt.Sprintf("Version %d will be in %s when its tests have passed.", req.VersionID, environment)
	}
	return answer, nil
}
