// Package issues contains the pages for issues: the list with its filters, and an issue with its feed, comments, attachments, flags,
// relations and the sessions of agents.
package issues

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

//go:embed templates/*.html
var files embed.FS

// Config contains the services behind the pages. Issues is required.
type Config struct {
	Issues *triage.Service
	Calls  *call.Service         // finds when a cited line was spoken; if nil, times are not shown
	Pages  []triage.ResourceType // types of resources with pages, to which issues link

	// Names returns the names of keys by their ids, for the assignees and owners that issues store by id. It omits unknown ids. If nil, the
	// pages show the ids.
	Names func(ctx context.Context, org callwright.OrgID, ids []string) (map[string]string, error)
	// People returns the keys of an organization to which issues can be assigned. If nil, users type an id.
	People func(ctx context.Context, org callwright.OrgID) ([]Person, error)

	callwright.Runtime
}

type pages struct{ cfg Config }

// New returns the area with the pages for issues.
func New(c Config) page.Area {
	c.Runtime = c.WithDefaults()
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible, because the folder is embedded
	}
	return page.Area{
		Title: "Issues", Path: "/issues", Templates: templates,
		Funcs: map[string]any{"status": status, "severity": severity, "session": session, "markdown": markdown, "href": p.href,
			"choose": choose, "find": find, "chosen": chosen, "relation": relation, "relations": relationTypes, "joined": joined, "line": func(index *int) int { return *index + 1 }, "scan": func() int { return triage.MaxScan }},
		Routes: append([]page.Route{
			{Pattern: "GET /issues", Serve: p.list},
			{Pattern: "GET /issues/new", Serve: p.showNew},
			{Pattern: "POST /issues", Serve: p.create},
			{Pattern: "GET /issues/{id}", Serve: p.show},
			{Pattern: "GET /issues/{id}/edit", Serve: p.showEdit},
			{Pattern: "POST /issues/{id}/edit", Serve: p.edit},
			{Pattern: "POST /issues/{id}/delete", Serve: p.deleteIssue},
			{Pattern: "GET /issues/{id}/comments/{comment}", Serve: p.showComment},
			{Pattern: "POST /issues/{id}/comments/{comment}", Serve: p.editComment},
			{Pattern: "POST /issues/{id}/comments/{comment}/delete", Serve: p.deleteComment},
		}, p.actions()...),
	}
}

// actor returns the user of a request as an actor of package triage.
func actor(r *page.Request) triage.Actor {
	return triage.Actor{Kind: triage.ActorUser, ID: r.Principal.KeyID, Label: r.Principal.KeyName}
}

// names returns the names of the users with the given ids, and of the current user, by id. It omits unknown ids.
func (p pages) names(ctx context.Context, r *page.Request, ids []string) (map[string]string, error) {
	names := map[string]string{}
	if r.Principal.KeyName != "" {
		names[r.Principal.KeyID] = r.Principal.KeyName
	}
	ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id string) bool { return id == "" })
	if p.cfg.Names == nil || len(ids) == 0 {
		return names, nil
	}
	found, err := p.cfg.Names(ctx, r.Org(), ids)
	maps.Copy(names, found)
	return names, err
}

// to returns a redirect to the page of an issue, with a notice.
func to(id, notice string) (page.Answer, error) {
	return page.SeeOther{To: page.Path("/issues", id), Notice: notice}, nil
}

// mayMend returns the faults in an error if the user can correct them in the form. It includes CodeNotFound and CodeNotImplemented if names
// contains the field of the error. In a form with two issues, the empty field means the other issue.
func mayMend(err error, names map[string]string) (page.Faults, bool) {
	if faults, ok := page.FaultsOf(err, names); ok {
		return faults, true
	}
	if e, _ := errors.AsType[*callwright.Error](err); errors.Is(err, callwright.ErrNotFound) || errors.Is(err, callwright.ErrNotImplemented) {
		name, ok := names[e.Field]
		return page.Faults{name: e.Message}, ok
	}
	return nil, false
}

// folders maps the types of attachable resources to the paths of their pages.
var folders = map[triage.ResourceType]string{
	triage.ResourceCall: "/calls", triage.ResourceRun: "/tests/runs", triage.ResourcePathway: "/pathways", triage.ResourcePort: "/ports",
}

// href returns the path of a resource's page, or an empty path if there is none.
func (p pages) href(t triage.ResourceType, id string) string {
	if folders[t] == "" || !slices.Contains(p.cfg.Pages, t) {
		return ""
	}
	return page.Path(folders[t], id)
}
