// Package overview shows on one page how things are: calls, trunks, ports, tests, issues, and what the server runs on.
package overview

import (
	"context"
	"embed"
	"html/template"
	"io/fs"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/transport/dashboard/page"
	"github.com/callwright/callwright/triage"
)

//go:embed templates/*.html
var files embed.FS

// Part is a part of the program and what it runs on.
type Part struct {
	Name    string // such as "model"; empty: it belongs to the one before
	By      string // what it runs on, or why it is missing
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
	Runs   []Part
	Clock  callwright.Clock // nil: the machine's
}

// pages serves the page.
type pages struct {
	cfg Config

	mu   sync.Mutex
	kept map[callwright.OrgID]slow
}

// New returns the overview.
func New(c Config) page.Area {
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	p := &pages{cfg: c, kept: map[callwright.OrgID]slow{}}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return page.Area{
		Title: "Overview", Path: "/", Templates: templates,
		Routes: []page.Route{{Pattern: "GET /{$}", Serve: p.show}},
	}
}

// The bounds of the page.
const (
	most     = 10               // rows of a block
	keepFor  = 30 * time.Second // what is counted
	maxKept  = 1000             // organizations
	dayHours = 24
	liveTime = 24 * time.Hour // calls that were created before are not looked for
	every    = 10 * time.Second
)

// slow is what takes more than a few rows to find out.
type slow struct {
	until           time.Time
	Chart           template.HTML // calls of the last hours
	Calls, Answered int
	Rate            float64 // of the calls that have ended, those that were answered
	Rated           bool    // some have ended
	Trunks          []sip.AttachedNumber
	Good, Bad, New  int // trunks by their health
}

// view is the page.
type view struct {
	Has Config
	Day slow

	Live     []call.Call
	MoreLive bool
	Waiting  []porting.Request
	Failing  []agenttest.Run
	Open     []triage.Issue
}

func (p *pages) show(ctx context.Context, r *page.Request) (page.Answer, error) {
	v := view{Has: p.cfg}
	for _, load := range []func(context.Context, callwright.Principal, *view) error{
		p.count, p.live, p.waiting, p.failing, p.open,
	} {
		if err := load(ctx, r.Principal, &v); err != nil {
			return nil, err
		}
	}
	return &page.View{Page: "overview", Title: "Overview", Data: v, Live: []string{"overview"}, Every: every}, nil
}

func (p *pages) live(ctx context.Context, who callwright.Principal, v *view) error {
	if p.cfg.Calls == nil {
		return nil
	}
	running := false
	found, _, err := p.cfg.Calls.List(ctx, who.Org, call.Filter{
		Completed: &running, Since: p.cfg.Clock.Now().Add(-liveTime), Limit: most, Uncounted: true,
	})
	v.Live, v.MoreLive = found.Items, !found.Next.IsZero()
	return err
}

func (p *pages) waiting(ctx context.Context, who callwright.Principal, v *view) error {
	if p.cfg.Ports == nil {
		return nil
	}
	found, err := p.cfg.Ports.List(ctx, who.Org, porting.Filter{
		States: []porting.State{porting.WaitingForSignature, porting.Submitted, porting.InProgress}, Limit: most,
	})
	v.Waiting = found.Items
	return err
}

func (p *pages) failing(ctx context.Context, who callwright.Principal, v *view) (err error) {
	if p.cfg.Tests != nil {
		v.Failing, _, err = p.cfg.Tests.ListRuns(ctx, who.Org, agenttest.RunFilter{
			States: []agenttest.State{agenttest.Failed, agenttest.Error}, Limit: most, Uncounted: true,
		})
	}
	return err
}

func (p *pages) open(ctx context.Context, who callwright.Principal, v *view) error {
	if p.cfg.Issues == nil {
		return nil
	}
	found, err := p.cfg.Issues.List(ctx, who.Org, triage.Query{Filter: triage.Filter{
		Statuses: []triage.Status{triage.StatusBacklog, triage.StatusTodo, triage.StatusInProgress, triage.StatusInReview}, Limit: most,
	}})
	v.Open = found.Items
	return err
}

// sort counts trunks by their health, and keeps the first of those that are not healthy.
func (s *slow) sort(numbers []sip.AttachedNumber) {
	for _, n := range numbers {
		switch n.Health {
		case health.Healthy:
			s.Good++
			continue
		case health.Unchecked:
			s.New++
		default:
			s.Bad++
		}
		if len(s.Trunks) < most && n.Health != health.Unchecked {
			s.Trunks = append(s.Trunks, n)
		}
	}
}
