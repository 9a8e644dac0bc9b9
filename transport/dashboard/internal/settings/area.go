// Package settings contains the dashboard's pages of settings: API keys, sessions, the webhook secret, deliveries and the program's
// components. Operators also manage organizations there.
package settings

import (
	"context"
	"embed"
	"io/fs"
	"net/http"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

//go:embed templates/*.html
var files embed.FS

// Config configures the pages. Access is required.
type Config struct {
	Access     *access.Service
	Deliveries *delivery.Log // if nil, the page of deliveries is omitted
	Areas      []page.Area   // the other areas, to whose pages deliveries link

	callwright.Runtime
}

type pages struct{ cfg Config }

// New returns the area of the settings pages. It panics if the embedded templates cannot be opened.
func New(c Config) page.Area {
	c.Runtime = c.WithDefaults()
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	area := page.Area{
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
			{Pattern: "GET /settings/organizations", Serve: p.organizations},
			{Pattern: "POST /settings/organizations", Serve: p.createOrganization},
			{Pattern: "GET /settings/organizations/{id}", Serve: p.organization},
			{Pattern: "POST /settings/organizations/{id}", Serve: p.changeOrganization},
		},
	}
	if c.Deliveries != nil {
		area.Routes = append(area.Routes,
			page.Route{Pattern: "GET /settings/deliveries", Serve: p.deliveries},
			page.Route{Pattern: "POST /settings/deliveries/resume", Serve: p.resume},
		)
	}
	return area
}

// pageSize is the maximum number of keys or sessions on a page.
const pageSize = 50

// webhooks holds the data of the page of the secret that signs webhooks.
type webhooks struct {
	menu
	callwright.Organization

	Overlap string // in hours, as typed
	Faults  page.Faults
}

func (p pages) webhooks(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.webhooksPage(ctx, r, webhooks{Overlap: "24"})
}

func (p pages) webhooksPage(ctx context.Context, r *page.Request, w webhooks) (page.Answer, error) {
	var err error
	w.menu = p.menu(r)
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
	overlap, err := span(r.Field("overlap"), "overlap", 0, hour)
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
	return p.showOnce(r, "The new webhook secret", o.WebhookSecret, "/settings/webhooks"), nil
}
