// Package pathways shows pathways and their versions, edits them as JSON, compares and publishes them.
package pathways

import (
	"context"
	"embed"
	"io/fs"

	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/page"
)

//go:embed templates/*.html
var files embed.FS

// Config names the services behind the pages. Pathways is required.
type Config struct {
	Pathways *pathway.Service
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
	return page.Area{
		Title: "Pathways", Path: "/pathways", Templates: templates,
		Routes: []page.Route{
			{Pattern: "GET /pathways", Serve: p.list},
			{Pattern: "GET /pathways/new", Serve: p.form},
			{Pattern: "POST /pathways", MaxBody: maxBody, Serve: p.create},
			{Pattern: "GET /pathways/{id}", Serve: p.pathway},
			{Pattern: "POST /pathways/{id}/delete", Serve: p.delete},
			{Pattern: "GET /pathways/{id}/diff", Serve: p.diff},
			{Pattern: "GET /pathways/{id}/versions/{number}", Serve: p.version},
			{Pattern: "POST /pathways/{id}/versions/{number}", MaxBody: maxBody, Serve: p.save},
			{Pattern: "POST /pathways/{id}/versions/{number}/publish", Serve: p.publish},
			{Pattern: "POST /pathways/{id}/versions/{number}/fork", Serve: p.fork},
			{Pattern: "POST /pathways/{id}/versions/{number}/discard", Serve: p.discard},
		},
	}
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

// overview is the page of a pathway.
type overview struct {
	Pathway  pathway.Pathway
	Versions []pathway.Version
	Next     string
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
	return &page.View{Page: "pathway", Title: about.Name, Data: overview{about, found.Items, r.Next(found.Next)}}, nil
}

func (p pages) delete(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Pathways.Delete(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/pathways", Notice: "The pathway is deleted."}, nil
}
