// Package calls contains the pages for calls: the list of calls, the form that starts a call, and the page of a call.
package calls

import (
	"embed"
	"io/fs"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/transport/dashboard/internal/agentform"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/turnlog"
)

//go:embed templates/*.html
var files embed.FS

// Config contains the services behind the pages. Calls is required.
type Config struct {
	Calls *call.Service
	Log   *calllog.Service // if nil, the pages show no SIP messages
}

type pages struct {
	cfg   Config
	waves *waves
}

// New returns the area with the pages for calls.
func New(c Config) page.Area {
	p := pages{cfg: c, waves: newWaves(c.Calls)}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible, because the folder is embedded
	}
	return agentform.In(turnlog.In(page.Area{
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
	}))
}
