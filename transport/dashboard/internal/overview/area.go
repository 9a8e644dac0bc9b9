// Package overview serves a page that summarizes calls, trunks, ports, tests, issues, and the parts of the server.
package overview

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

//go:embed templates/*.html
var files embed.FS

// Part is a replaceable part of the server, such as the language model.
type Part struct {
	Name    string // such as "model"; empty if it belongs to the previous part
	By      string // implementation, or the reason if Missing is set
	Missing bool
	Hint    string // how to change the part, such as the name of a flag
}

// Config contains the services behind the page. The page omits the block of a nil service.
type Config struct {
	Calls  *call.Service
	Trunks *sip.Service
	Ports  *porting.Service
	Tests  *agenttest.Service
	Issues *triage.Service
	Runs   []Part // parts of the server; shown only to operators

	callwright.Runtime
}

type pages struct{ cfg Config }

// New returns the area with the overview page, which is the dashboard's first page.
func New(c Config) page.Area {
	c.Runtime = c.WithDefaults()
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible, because the folder is embedded
	}
	return page.Area{
		Title: "Overview", Path: "/", Templates: templates, Funcs: funcs,
		Routes: []page.Route{{Pattern: "GET /{$}", Serve: pages{c}.show}},
	}
}

// The limits of the page.
const (
	most     = 10 // rows per block
	dayHours = 24
	every    = 10 * time.Second // interval of renderings if Calls is nil; otherwise Wait ends the interval
)

// view contains the data of the page. The page omits the blocks of services that are nil in Has.
type view struct {
	Has Config
	Now time.Time

	Live     []call.Call
	MoreLive bool
	Day      day
	Trunks   sip.Overview
	Waiting  []porting.Request
	Failing  []run.Run
	Open     []triage.Issue
}

func (p pages) show(ctx context.Context, r *page.Request) (page.Answer, error) {
	v := view{Has: p.cfg, Now: p.cfg.Clock.Now()}
	if !r.Principal.Entitled(callwright.EntitlementSIP) {
		v.Has.Trunks, v.Has.Ports = nil, nil
	}
	if !r.Principal.Entitled(callwright.EntitlementOperator) {
		v.Has.Runs = nil
	}
	for _, load := range []func(context.Context, callwright.OrgID) error{v.live, v.count, v.trunks, v.waiting, v.failing, v.open} {
		if err := load(ctx, r.Org()); err != nil {
			return nil, err
		}
	}
	shown := &page.View{Page: "overview", Title: "Overview", Data: v, Live: []string{"overview"}, Every: every}
	if p.cfg.Calls != nil {
		shown.Wait = page.Poll(fmt.Sprint(call.RevisionsOf(v.Live)), func(ctx context.Context) (string, error) {
			now, err := p.cfg.Calls.Revisions(ctx, r.Org(), running)
			return fmt.Sprint(now), err
		})
	}
	return shown, nil
}

// running selects the calls that have not ended.
var running = call.Filter{Completed: new(false), Limit: most, SkipCount: true}

// live reads the first calls that have not ended, and sets MoreLive if there are others.
func (v *view) live(ctx context.Context, org callwright.OrgID) error {
	if v.Has.Calls == nil {
		return nil
	}
	found, _, err := v.Has.Calls.List(ctx, org, running)
	v.Live, v.MoreLive = found.Items, !found.Next.IsZero()
	return err
}

func (v *view) trunks(ctx context.Context, org callwright.OrgID) (err error) {
	if v.Has.Trunks != nil {
		v.Trunks, err = v.Has.Trunks.Overview(ctx, org, most)
	}
	return err
}

// waiting reads the port requests that are still open.
func (v *view) waiting(ctx context.Context, org callwright.OrgID) (err error) {
	if v.Has.Ports != nil {
		v.Waiting, err = v.Has.Ports.Open(ctx, org, most)
	}
	return err
}

// failing reads the most recent test runs that failed or ended with an error.
func (v *view) failing(ctx context.Context, org callwright.OrgID) error {
	if v.Has.Tests == nil {
		return nil
	}
	found, err := v.Has.Tests.PageRuns(ctx, org, run.Filter{States: []run.State{run.Failed, run.Error}, Limit: most})
	v.Failing = found.Items
	return err
}

// open reads the open issues with the most recent activity.
func (v *view) open(ctx context.Context, org callwright.OrgID) error {
	if v.Has.Issues == nil {
		return nil
	}
	open := slices.DeleteFunc(triage.Statuses(), func(s triage.Status) bool { return !s.Open() })
	found, err := v.Has.Issues.List(ctx, org, triage.Query{Filter: triage.Filter{Statuses: open, Limit: most}})
	v.Open = found.Items
	return err
}
