// Package settings shows the API keys of an organization, the sessions of the dashboard, the secret of webhooks, and what the program is
// made of.
package settings

import (
	"context"
	"embed"
	"io/fs"
	"net/http"
	"runtime/debug"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/access"
	"github.com/callwright/callwright/transport/dashboard/page"
)

//go:embed templates/*.html
var files embed.FS

// Config names the services behind the pages. Access is required.
type Config struct {
	Access *access.Service
	Clock  callwright.Clock // nil: the machine's
}

// pages serves the pages.
type pages struct{ cfg Config }

// New returns the pages of settings.
func New(c Config) page.Area {
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return page.Area{
		Title: "Settings", Path: "/settings", Templates: templates,
		Routes: []page.Route{
			{Pattern: "GET /settings", Serve: p.keys},
			{Pattern: "POST /settings/keys", Serve: p.create},
			{Pattern: "POST /settings/keys/{id}/rotate", Serve: p.rotate},
			{Pattern: "POST /settings/keys/{id}/revoke", Serve: p.revoke},
			{Pattern: "GET /settings/sessions", Serve: p.sessions},
			{Pattern: "POST /settings/sessions/{id}/end", Serve: p.end},
			{Pattern: "GET /settings/webhooks", Serve: p.webhooks},
			{Pattern: "POST /settings/webhooks/secret", Serve: p.rotateSecret},
			{Pattern: "GET /settings/about", Serve: p.about},
		},
	}
}

// pageSize is the number of keys or sessions on a page.
const pageSize = 50

// once is the page of a secret that is shown once.
type once struct {
	What, Secret, Back string
}

// showOnce shows a secret that cannot be read again. No browser keeps the page.
func showOnce(what string, secret callwright.Secret, back string) page.Answer {
	return &page.View{Page: "once", Title: what, Data: once{what, secret.Reveal(), back}}
}

// sessions is the page of the sessions of the dashboard.
type sessions struct {
	Sessions []callwright.Session
	Own      string // the key of whoever looks
	Next     string
}

func (p pages) sessions(ctx context.Context, r *page.Request) (page.Answer, error) {
	after, err := r.After()
	if err != nil {
		return nil, err
	}
	found, err := p.cfg.Access.Sessions(ctx, r.Org(), after, pageSize)
	if err != nil {
		return nil, err
	}
	return &page.View{Page: "sessions", Title: "Sessions", Data: sessions{found.Items, r.Principal.KeyID, r.Next(found.Next)}}, nil
}

func (p pages) end(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Access.EndSession(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/settings/sessions", Notice: "The session has ended."}, nil
}

// webhooks is the page of the secret that signs webhooks.
type webhooks struct {
	callwright.Organization

	Overlap string // hours, as typed
	Faults  page.Faults
}

func (p pages) webhooks(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.webhooksPage(ctx, r, webhooks{Overlap: "24"})
}

func (p pages) webhooksPage(ctx context.Context, r *page.Request, w webhooks) (page.Answer, error) {
	var err error
	if w.Organization, err = p.cfg.Access.Organization(ctx, r.Org()); err != nil {
		return nil, err
	}
	if len(w.WebhookSecrets(p.cfg.Clock.Now())) < 2 {
		w.PreviousWebhookEnds = nil
	}
	v := &page.View{Page: "webhooks", Title: "Webhooks", Data: w}
	if w.Faults != nil {
		v.Status = http.StatusUnprocessableEntity
	}
	return v, nil
}

func (p pages) rotateSecret(ctx context.Context, r *page.Request) (page.Answer, error) {
	overlap, err := span(r.Field("overlap"), "overlap", hour)
	o := callwright.Organization{}
	if err == nil {
		o, err = p.cfg.Access.RotateWebhookSecret(ctx, r.Org(), overlap)
	}
	if faults, ok := page.FaultsOf(err, nil); ok {
		return p.webhooksPage(ctx, r, webhooks{Overlap: r.Field("overlap"), Faults: faults})
	}
	if err != nil {
		return nil, err
	}
	return showOnce("The new webhook secret", o.WebhookSecret, "/settings/webhooks"), nil
}

// about is the page of what the program is made of.
func (p pages) about(context.Context, *page.Request) (page.Answer, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return &page.View{Page: "about", Title: "About", Data: info}, nil
}
