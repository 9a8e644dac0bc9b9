package pathway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// StoreVersion stores a document as the pathway's next version. The draft stays unchanged. StoreVersion returns FieldErrors if the document
// is invalid, and CodeInvalidState if the pathway has MaxVersions.
func (s *Service) StoreVersion(ctx context.Context, org callwright.OrgID, id, name string, d graph.Document) (Version, error) {
	return s.add(ctx, Version{Org: org, Pathway: id, Name: name, Document: d}, graph.Check)
}

// Fork stores the pathway's next version with a parent, which is a version's number or 0 for the draft. The document of the new version is
// d, or the parent's document if d is nil. Fork returns CodeInvalidState if the parent is an empty draft or the pathway has MaxVersions,
// and CodeUnavailable if too many documents are read concurrently: see MaxDocuments.
func (s *Service) Fork(
	ctx context.Context, org callwright.OrgID, id string, parent int, name string, d *graph.Document,
) (Version, error) {
	release, err := s.hold(ctx, org, documentsOfReading)
	if err != nil {
		return Version{}, err
	}
	defer release()
	from, _, err := s.withPathway(ctx, org, id, parent)
	if err != nil {
		return Version{}, err
	}
	if from.Document.Empty() {
		return Version{}, errEmptyDraft
	}
	check := graph.Check
	if d == nil { // the stored document may come from a release with fewer checks
		d, check = &from.Document, graph.Compile
	}
	return s.add(ctx, Version{Org: org, Pathway: id, Name: name, Document: *d, Parent: parent}, check)
}

// add stores a version with the next number. compile checks its document.
func (s *Service) add(
	ctx context.Context, v Version, compile func(graph.Document) (*graph.Graph, error),
) (Version, error) {
	if err := checkName(v.Name); err != nil {
		return Version{}, err
	}
	kept, g, err := s.checkWith(compile, v.Document)
	if err != nil {
		return Version{}, err
	}
	v.ID, v.Document, v.Hash, v.CreatedAt = s.cfg.IDs.New(), kept, g.Hash, s.cfg.Clock.Now()
	err = s.together(ctx, v.Org, v.Pathway, func(ctx context.Context, p *Pathway) error {
		if p.Latest >= MaxVersions {
			return callwright.Errorf(callwright.CodeInvalidState,
				"a pathway can have at most %d versions, archived ones included: create another pathway", MaxVersions)
		}
		p.Latest++
		v.Number = p.Latest
		return s.cfg.Store.InsertVersion(ctx, v)
	})
	return v, err
}

// Versions returns a pathway and a page of its versions, newest first. It omits documents and archived versions. For the first page the
// parameter after is zero; for a further page it is the Next of the previous page. A limit outside 1 to MaxPageOfVersions means
// MaxPageOfVersions.
func (s *Service) Versions(
	ctx context.Context, org callwright.OrgID, id string, after callwright.Keyset, limit int,
) (callwright.Page[Version], Pathway, error) {
	var page callwright.Page[Version]
	before, err := numberOf(after)
	if err != nil {
		return page, Pathway{}, err
	}
	p, err := s.cfg.Store.Pathway(ctx, org, id)
	if err != nil {
		return page, Pathway{}, err
	}
	limit = pageSize(limit, MaxPageOfVersions)
	page.Items, err = s.cfg.Store.Versions(ctx, org, id, before, limit+1) // one more version shows whether another page follows
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		last := page.Items[limit-1]
		page.Next = callwright.Keyset{At: last.CreatedAt, ID: strconv.Itoa(last.Number)}
	}
	return page, p, err
}

// numberOf returns the version number in a keyset, or 0 for the zero keyset. It returns CodeBadRequest if the keyset is not from a page of
// Versions.
func numberOf(k callwright.Keyset) (int, error) {
	if k.IsZero() {
		return 0, nil
	}
	number, err := strconv.Atoi(k.ID)
	if err != nil || number < 1 {
		return 0, callwright.Invalid("cursor", "must be a cursor that the list of versions returned")
	}
	return number, nil
}

// Version returns a version that is not archived, and its pathway. Number 0 is the draft, which has no Hash. It returns CodeUnavailable if
// too many documents are read concurrently: see MaxDocuments.
func (s *Service) Version(ctx context.Context, org callwright.OrgID, id string, number int) (Version, Pathway, error) {
	release, err := s.hold(ctx, org, documentsOfReading)
	if err != nil {
		return Version{}, Pathway{}, err
	}
	defer release()
	return s.withPathway(ctx, org, id, number)
}

// withPathway returns the result of Version. The caller already holds a claim on memory for documents.
func (s *Service) withPathway(ctx context.Context, org callwright.OrgID, id string, number int) (Version, Pathway, error) {
	p, err := s.cfg.Store.Pathway(ctx, org, id)
	if err != nil {
		return Version{}, Pathway{}, err
	}
	v, err := s.version(ctx, p, number)
	return v, p, err
}

// version returns a version of a pathway, or its draft for number 0. It returns CodeNotFound for an archived version.
func (s *Service) version(ctx context.Context, p Pathway, number int) (Version, error) {
	if number == 0 {
		return Version{
			ID: p.ID, Org: p.Org, Pathway: p.ID, Name: p.Name, Document: p.Draft, CreatedAt: p.UpdatedAt,
		}, nil
	}
	v, err := s.cfg.Store.Version(ctx, p.Org, p.ID, number)
	if err == nil && v.Archived {
		return Version{}, errNoVersion
	}
	return v, err
}

var (
	errNoVersion  = callwright.NotFound("pathway version")
	errEmptyDraft = callwright.Errorf(callwright.CodeInvalidState, "the draft is empty: add a start node")
)

// CanDiscard returns nil if Discard would now accept the version with the given number, provided that the version exists. It returns
// CodeInvalidState if the version is the draft, is in an environment, or waits for its tests.
func (p Pathway) CanDiscard(number int) error {
	switch number {
	case 0:
		return callwright.Errorf(callwright.CodeInvalidState, "the draft cannot be deleted without its pathway")
	case p.Production:
		return callwright.Errorf(callwright.CodeInvalidState, "version %d is in production: publish another version first", number)
	case p.Staging:
		return callwright.Errorf(callwright.CodeInvalidState, "version %d is in staging: publish another version there first", number)
	case p.promoted():
		return callwright.Errorf(callwright.CodeInvalidState, "version %d is waiting for its tests before it goes to production: publish another version first", number)
	}
	return nil
}

// Discard archives a version: new conversations cannot use it, and running conversations continue. It returns CodeInvalidState if
// Pathway.CanDiscard does.
func (s *Service) Discard(ctx context.Context, org callwright.OrgID, id string, number int) error {
	return s.together(ctx, org, id, func(ctx context.Context, p *Pathway) error {
		if _, err := s.version(ctx, *p, number); err != nil {
			return err
		}
		if err := p.CanDiscard(number); err != nil {
			return err
		}
		return s.cfg.Store.ArchiveVersion(ctx, org, id, number)
	})
}

// Diff compares two versions of a pathway. Number 0 is the draft. It returns CodeUnavailable if too many documents are read or compared
// concurrently: see MaxDocuments.
func (s *Service) Diff(ctx context.Context, org callwright.OrgID, id string, from, to int) (graph.Changes, error) {
	release, err := s.hold(ctx, org, documentsOfDiff)
	if err != nil {
		return graph.Changes{}, err
	}
	defer release()
	before, p, err := s.withPathway(ctx, org, id, from)
	if err != nil {
		return graph.Changes{}, err
	}
	if from == to {
		return graph.Changes{}, nil
	}
	after, err := s.version(ctx, p, to)
	if err != nil {
		return graph.Changes{}, err
	}
	return graph.Diff(before.Document, after.Document), nil
}

// Load returns the graph for a new conversation and the number of its version, which is 0 for the draft. If the pathway or the version is
// absent, it returns CodeNotFound with the field pathway_id or pathway_version. It returns CodeInvalidState if the draft is empty or the
// stored document is no longer valid.
func (s *Service) Load(ctx context.Context, org callwright.OrgID, id string, sel Selector) (*graph.Graph, int, error) {
	p, err := s.cfg.Store.Pathway(ctx, org, id)
	if err != nil {
		return nil, 0, callwright.InField("pathway_id", err)
	}
	number, err := sel.in(p)
	if err != nil {
		return nil, 0, callwright.InField("pathway_version", err)
	}
	v, err := s.version(ctx, p, number)
	if err != nil {
		return nil, 0, callwright.InField("pathway_version", err)
	}
	g, err := s.graph(v)
	return g, number, callwright.InField("pathway_version", err)
}

// LoadPinned returns the graph of a version with which a conversation has begun, even if the version was archived since. Number 0 is the
// current draft.
func (s *Service) LoadPinned(
	ctx context.Context, org callwright.OrgID, id string, number int,
) (g *graph.Graph, err error) {
	var v Version
	if number == 0 {
		v, _, err = s.withPathway(ctx, org, id, 0)
	} else {
		var hash string
		if hash, err = s.cfg.Store.VersionHash(ctx, org, id, number); err != nil {
			return nil, err
		}
		if g := s.graphs.find(hash); g != nil {
			return g, nil
		}
		v, err = s.cfg.Store.Version(ctx, org, id, number)
	}
	if err != nil {
		return nil, err
	}
	return s.graph(v)
}

// in returns the number of the version that sel selects. It returns CodeNotFound if no version is in the environment, and CodeBadRequest
// for an unknown environment.
func (sel Selector) in(p Pathway) (int, error) {
	var number int
	switch sel.Environment {
	case "":
		return sel.Number, nil
	case Production:
		number = p.Production
	case Staging:
		number = p.Staging
	default:
		return 0, errEnvironment
	}
	if number == 0 {
		return 0, callwright.Errorf(callwright.CodeNotFound, "no version of the pathway is in %s: publish one first", sel.Environment)
	}
	return number, nil
}

var errEnvironment = callwright.Invalid("", "must be production or staging")

// graph returns the graph of a version or a draft, from the cache if possible. It returns CodeInvalidState if the document is empty or no
// longer valid.
func (s *Service) graph(v Version) (*graph.Graph, error) {
	if v.Document.Empty() {
		return nil, errEmptyDraft
	}
	key := v.Hash
	if v.Number == 0 {
		key = "draft " + rawHash(v.Document)
	}
	g, err := s.graphs.get(key, v.Document)
	if err != nil {
		s.cfg.Logger.Error("stored pathway is invalid", "pathway", v.Pathway, "version", v.Number, "error", err)
		return nil, callwright.Errorf(callwright.CodeInvalidState, "this version is no longer valid: save it again to see its errors")
	}
	return g, nil
}

// rawHash returns a hash of a document's exact bytes. Documents with equal content in different spellings have different hashes.
func rawHash(d graph.Document) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d ", len(d.Nodes))
	for _, raw := range slices.Concat(d.Nodes, d.Edges) {
		fmt.Fprintf(h, "%d ", len(raw))
		h.Write(raw)
	}
	return string(h.Sum(nil))
}
