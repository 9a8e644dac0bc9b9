// Package pathways shows pathways and their versions, edits them as JSON, compares and publishes them, and chats with them.
package pathways

import (
	"context"
	"embed"
	"io/fs"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/internal/drawing"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/turnlog"
)

//go:embed templates/*.html
var files embed.FS

// Config names the services behind the pages. Pathways is required.
type Config struct {
	Pathways *pathway.Service
	Calls    bool // there are pages of calls, to which pages link
	Tests    bool // there are pages of tests, to which pages link
}

// pages serves the pages.
type pages struct{ cfg Config }

// maxBody bounds a form with a document: each byte of it may take three in a form.
const maxBody = 3*graph.MaxBytes + 64<<10

// New returns the pages of pathways.
func New(c Config) page.Area {
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return drawing.In(turnlog.In(page.Area{
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
	}))
}

// pageSize is the number of entries on a page of a list.
const pageSize = 50

// list is the page of all pathways.
type list struct {
	Pathways []pathway.Pathway
	Next     string // address of the next page; empty: this is the last
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

// newestChats is the number of chats on the page of a pathway.
const newestChats = 5

// overview is the page of a pathway.
type overview struct {
	Pathway  pathway.Pathway
	Versions []pathway.Version
	Next     string
	Chats    []pathway.Chat // the newest
	From, To int            // the versions to compare at first
	Calls    bool           // there are pages of calls
	Tests    bool           // there are pages of tests
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

// toCompare returns the versions that a comparison begins with: that in production, or the oldest, against the newest of a page. If
// the newest is in production, it is compared with that before; the only version, with the draft.
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
