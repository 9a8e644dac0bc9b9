// Package calls shows calls: running calls, ended calls, and one call with all its data.
package calls

import (
	"embed"
	"io/fs"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/turnlog"
)

//go:embed templates/*.html
var files embed.FS

// Config names the services behind the pages. Calls is required.
type Config struct {
	Calls *call.Service
	Log   *calllog.Service // nil: calls are shown without the messages of SIP
}

// pages serves the pages.
type pages struct {
	cfg   Config
	waves *waves
}

// New returns the pages of calls.
func New(c Config) page.Area {
	p := pages{cfg: c, waves: newWaves(c.Calls)}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return turnlog.In(page.Area{
		Title: "Calls", Path: "/calls", Templates: templates,
		Funcs: funcs,
		Routes: []page.Route{
			{Pattern: "GET /calls", Serve: p.list},
			{Pattern: "GET /calls/new", Serve: p.form},
			{Pattern: "POST /calls", Serve: p.place},
			{Pattern: "GET /calls/{id}", Serve: p.call},
			{Pattern: "GET /calls/{id}/recording", Serve: p.recording},
			{Pattern: "POST /calls/{id}/stop", Serve: p.stop},
		},
	})
}
