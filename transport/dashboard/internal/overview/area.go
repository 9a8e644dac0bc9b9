// Package overview shows the state of everything on one page: calls, trunks, ports, tests, issues, and the parts of the server.
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

// Part is a part of the program with its implementation.
type Part struct {
	Name    string // such as "model"; empty: it belongs to the one before
	By      string // implementation, or the reason why it is missing
	Missing bool
	Hint    string // how to change it, such as the name of a flag
}

// Config names the services behind the page. A nil service has no block.
type Config struct {
	Calls  *call.Service
	Trunks *sip.Service
	Ports  *porting.Service
	Tests  *agenttest.Service
	Issues *triage.Service
	Runs   []Part // which only the deployment's operators see

	callwright.Runtime
}

// pages serves the page.
type pages struct{ cfg Config }

// New returns the overview.
func New(c Config) page.Area {
	c.Runtime = c.WithDefaults()
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return page.Area{
		Title: "Overview", Path: "/", Templates: templates, Funcs: funcs,
		Routes: []page.Route{{Pattern: "GET /{$}", Serve: pages{c}.show}},
	}
}

// The bounds of the page.
const (
	most     = 10 // rows of a block
	dayHours = 24
	every    = 10 * time.Second // between two renderings, where no calls are looked at: they end the wait
)

// view is the page. Parts that Has lacks have no block.
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

// running chooses the calls that have not ended.
var running = call.Filter{Completed: new(false), Limit: most, SkipCount: true}

// live finds calls that have not ended.
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

// waiting finds requests that have not ended.
func (v *view) waiting(ctx context.Context, org callwright.OrgID) (err error) {
	if v.Has.Ports != nil {
		v.Waiting, err = v.Has.Ports.Open(ctx, org, most)
	}
	return err
}

// failing finds the last runs that have failed.
func (v *view) failing(ctx context.Context, org callwright.OrgID) error {
	if v.Has.Tests == nil {
		return nil
	}
	found, err := v.Has.Tests.PageRuns(ctx, org, run.Filter{States: []run.State{run.Failed, run.Error}, Limit: most})
	v.Failing = found.Items
	return err
}

// open finds the open issues in which something has happened last.
func (v *view) open(ctx context.Context, org callwright.OrgID) error {
	if v.Has.Issues == nil {
		return nil
	}
	open := slices.DeleteFunc(triage.Statuses(), func(s triage.Status) bool { return !s.Open() })
	found, err := v.Has.Issues.List(ctx, org, triage.Query{Filter: triage.Filter{Statuses: open, Limit: most}})
	v.Open = found.Items
	return err
}
