// Package trunks contains the dashboard's pages of SIP trunks: their health, calls and settings, test calls, and the step-by-step set-up of
// new trunks.
package trunks

import (
	"embed"
	"io/fs"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/proof"
	"github.com/callwright/callwright/sip/setup"
	"github.com/callwright/callwright/sip/testcall"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/signaling"
)

//go:embed templates/*.html
var files embed.FS

// Config holds the services behind the pages. Every service is required.
type Config struct {
	Trunks      *sip.Service
	CallLog     *calllog.Service
	Setup       *setup.Service
	Discoveries *discovery.Service
	TestCalls   *testcall.Service
	Proofs      *proof.Service
	CallPages   bool // the dashboard has pages of calls, which are linked; set by dashboard.New

	callwright.Runtime
}

type pages struct{ cfg Config }

func (p pages) now() time.Time { return p.cfg.Clock.Now() }

// New returns the area of the trunks' pages. It panics if the embedded templates cannot be opened.
func New(c Config) page.Area {
	c.Runtime = c.WithDefaults()
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	return page.Area{
		Title: "Trunks", Path: "/trunks", Entitlement: callwright.EntitlementSIP, Templates: templates,
		Funcs: map[string]any{
			"state": state, "uptime": uptime, "rank": func(i int) int { return i + 1 }, "steps": steps, "word": word, "triggers": triggersOf,
			"steptext": signaling.Text, "failed": signaling.Failed,
		},
		Routes: []page.Route{
			{Pattern: "GET /trunks", Serve: p.list},
			{Pattern: "GET /trunks/new", Serve: p.direction},
			{Pattern: "POST /trunks/new", Serve: p.begin},
			{Pattern: "POST /trunks/new/discard", Serve: p.discard},
			{Pattern: "GET /trunks/new/destination", Serve: p.destination},
			{Pattern: "POST /trunks/new/destination", Serve: p.look},
			{Pattern: "GET /trunks/new/discovery", Serve: p.discovery},
			{Pattern: "POST /trunks/new/discovery", Serve: p.choose},
			{Pattern: "GET /trunks/new/firewall", Serve: p.firewall},
			{Pattern: "GET /trunks/new/authentication", Serve: p.authentication},
			{Pattern: "POST /trunks/new/authentication", Serve: p.authenticate},
			{Pattern: "GET /trunks/new/numbers", Serve: p.numbers},
			{Pattern: "POST /trunks/new/numbers", Serve: p.attach},
			{Pattern: "GET /trunks/{number}", Serve: p.trunk},
			{Pattern: "GET /trunks/{number}/calls/{id}", Serve: p.attempt},
			{Pattern: "GET /trunks/{number}/told", Serve: p.deliveries},
			{Pattern: "POST /trunks/{number}/codecs", Serve: p.codecs},
			{Pattern: "POST /trunks/{number}/dtmf", Serve: p.dtmf},
			{Pattern: "POST /trunks/{number}/redirects", Serve: p.redirects},
			{Pattern: "GET /trunks/{number}/failover", Serve: p.failover},
			{Pattern: "POST /trunks/{number}/failover", Serve: p.setFailover},
			{Pattern: "POST /trunks/{number}/test", Serve: p.startTest},
			{Pattern: "GET /trunks/{number}/test/{id}", Serve: p.test},
			{Pattern: "GET /trunks/{number}/proof", Serve: p.proof},
			{Pattern: "POST /trunks/{number}/proof", Serve: p.prove},
			{Pattern: "POST /trunks/{number}/proof/code", Serve: p.verify},
			{Pattern: "GET /trunks/{number}/complete", Serve: p.complete},
			{Pattern: "POST /trunks/{number}/detach", Serve: p.detach},
		},
	}
}

// number parses the phone number in the address. It returns CodeNotFound for an invalid number.
func number(r *page.Request) (callwright.PhoneNumber, error) {
	n, err := callwright.ParsePhoneNumber(r.PathValue("number"))
	if err != nil {
		return "", callwright.Errorf(callwright.CodeNotFound, "the address of the page must contain a phone number in E.164, such as +12025550101")
	}
	return n, nil
}
