// Package calls shows calls: those that run, those that have ended, and one with everything that is known of it.
package calls

import (
	"context"
	"embed"
	"io/fs"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/dashboard/page"
)

//go:embed templates/*.html
var files embed.FS

// Config is what the pages need. Calls is required.
type Config struct {
	Calls *call.Service
}

// pages serves the pages.
type pages struct{ cfg Config }

// New returns the pages of calls.
func New(c Config) page.Area {
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return page.Area{
		Title: "Calls", Path: "/calls", Templates: templates,
		Funcs: map[string]any{"state": state},
		Routes: []page.Route{
			{Pattern: "GET /calls", Serve: p.list},
		},
	}
}

// list is the page of all calls.
type list struct {
	Calls []call.Call
	Next  string // address of the next page; empty: this is the last
}

// pageSize is the number of calls on a page.
const pageSize = 50

func (p pages) list(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, _, err := p.cfg.Calls.List(ctx, r.Org(), call.Filter{Limit: pageSize, After: after})
	if err != nil {
		return nil, err
	}
	return &page.View{
		Page: "list", Title: "Calls", Data: list{found.Items, r.Next(found.Next)}, Live: []string{"calls"},
	}, nil
}

// badge is the state of a call as people see it.
type badge struct{ Kind, Text string }

// state returns the badge of a call.
func state(c call.Call) badge {
	switch {
	case c.EndedAt == nil && c.StartedAt != nil:
		return badge{"busy", "talking"}
	case c.EndedAt == nil:
		return badge{"busy", string(c.Queue)}
	case c.Status == call.StatusCompleted:
		return badge{"good", string(c.Status)}
	case c.Status == call.StatusFailed:
		return badge{"bad", string(c.Status)}
	}
	return badge{"plain", string(c.Status)}
}
