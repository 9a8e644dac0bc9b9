// Package pathways contains the dashboard's pages of pathways. They list, edit as JSON, compare and publish versions, and chat with them.
package pathways

import (
	"context"
	"embed"
	"io/fs"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/drawing"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/turnlog"
)

//go:embed templates/*.html
var files embed.FS

// Config configures the pages. Pathways is required.
type Config struct {
	Pathways *pathway.Service
	Calls    bool // whether the dashboard has pages of calls, to which these pages then link
	Tests    bool // the dashboard has pages of tests, which are linked
}

type pages struct{ cfg Config }

// maxBody is the maximum size of a form with a document, in bytes. Form encoding may triple the document's size.
const maxBody = 3*graph.MaxBytes + 64<<10

// New returns the area of the pathways' pages. It panics if the embedded templates cannot be opened.
func New(c Config) page.Area {
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	return agentform.In(drawing.In(turnlog.In(page.Area{
		Title: "Pathways", Path: "/pathways", Templates: templates,
		Routes: []page.Route{
			{Pattern: "GET /pathways", Serve: p.list},
			{Pattern: "GET /pathways/new", Serve: p.form},
			{Pattern: "POST /pathways", MaxBody: maxBody, Serve: p.create},
			{Pattern: "GET /pathways/{id}", Serve: p.pathway},
			{Pattern: "POST /pathways/{id}/delete", Serve: p.delete},
			{Pattern: "GET /pathways/{id}/diff", Serve: p.diff},
			{Pattern: "GET /pathways/{id}/versions/{number}", Serve: p.version},
			{Pattern: "POST /pathways/{id}/versions/{number}", MaxBody: maxBody, Serve: p.store},
			{Pattern: "POST /pathways/{id}/versions/{number}/publish", Serve: p.publish},
			{Pattern: "POST /pathways/{id}/versions/{number}/fork", Serve: p.fork},
			{Pattern: "POST /pathways/{id}/versions/{number}/discard", Serve: p.discard},
			{Pattern: "POST /pathways/{id}/versions/{number}/chats", Serve: p.begin},
			{Pattern: "GET /pathways/{id}/chats", Serve: p.chats},
			{Pattern: "GET /pathways/{id}/chats/{chat}", Serve: p.chat},
			{Pattern: "POST /pathways/{id}/chats/{chat}", Serve: p.say},
		},
	})))
}

// pageSize is the maximum number of entries on a page of a list.
const pageSize = 50

// list holds the data of the page that lists all pathways.
type list struct {
	Pathways []pathway.Pathway
	Next     string // address of the next page, or empty on the last
}

func (p pages) list(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, err := p.cfg.Pathways.List(ctx, r.Org(), pathway.Listing{After: after, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	return &page.View{Page: "list", Title: "Pathways", Data: list{found.Items, r.Next(found.Next)}}, nil
}

// newestChats is the maximum number of chats on the page of a pathway.
const newestChats = 5

// overview holds the data of a pathway's page.
type overview struct {
	Pathway  pathway.Pathway
	Versions []pathway.Version
	Next     string
	Chats    []pathway.Chat // the newest chats, at most newestChats
	From, To int            // initial values of the comparison form
	Calls    bool           // see Config
	Tests    bool           // see Config
}

func (p pages) pathway(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, about, err := p.cfg.Pathways.Versions(ctx, r.Org(), r.PathValue("id"), after, pageSize)
	if err != nil {
		return nil, err
	}
	chats, err := p.cfg.Pathways.Chats(ctx, r.Org(), about.ID, callwright.Keyset{}, newestChats)
	if err != nil {
		return nil, err
	}
	shown := overview{Pathway: about, Versions: found.Items, Next: r.Next(found.Next), Chats: chats.Items, Calls: p.cfg.Calls, Tests: p.cfg.Tests}
	shown.From, shown.To = toCompare(about, found.Items)
	return &page.View{Page: "pathway", Title: about.Name, Data: shown}, nil
}

// toCompare returns the initial versions of the comparison form. It compares the newest listed version with the version in production, or
// with the oldest listed version if none is in production. If the newest is in production, it is compared with its predecessor. A sole
// version is compared with the draft.
func toCompare(about pathway.Pathway, listed []pathway.Version) (from, to int) {
	if len(listed) == 0 {
		return 0, 0
	}
	to = listed[0].Number
	switch {
	case len(listed) == 1 && (about.Production == 0 || about.Production == to):
		return to, 0
	case about.Production == to:
		return listed[1].Number, to
	case about.Production != 0:
		return about.Production, to
	default:
		return listed[len(listed)-1].Number, to
	}
}

func (p pages) delete(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Pathways.Delete(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/pathways", Notice: "The pathway is deleted."}, nil
}
