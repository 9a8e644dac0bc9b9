package settings

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// menu holds the links from each page to the other settings pages.
type menu struct{ Places []place }

// place is a link of the menu. Here marks the current page.
type place struct {
	Path, Text string
	Here       bool
}

// menu returns links to the pages that the reader may see.
func (p pages) menu(r *page.Request) menu {
	all := []place{
		{Path: "/settings", Text: "API keys"}, {Path: "/settings/sessions", Text: "Sessions"},
		{Path: "/settings/webhooks", Text: "Webhooks"},
	}
	if p.cfg.Deliveries != nil {
		all = append(all, place{Path: "/settings/deliveries", Text: "Deliveries"})
	}
	if r.Principal.Entitled(callwright.EntitlementOperator) {
		all = append(all, place{Path: "/settings/organizations", Text: "Organizations"})
	}
	all = append(all, place{Path: "/settings/about", Text: "About"})
	here := 0 // index of the longest path that is a prefix of the request's path
	for i, at := range all {
		if strings.HasPrefix(r.URL.Path+"/", at.Path+"/") && len(at.Path) > len(all[here].Path) {
			here = i
		}
	}
	all[here].Here = true
	return menu{all}
}

// once holds the data of a page that shows a secret for the only time.
type once struct {
	menu

	What, Secret, Back string
}

// showOnce returns the page of a new secret, which cannot be read again.
func (p pages) showOnce(r *page.Request, what string, secret callwright.Secret, back string) page.Answer {
	return &page.View{Page: "once", Title: what, Data: once{p.menu(r), what, secret.Reveal(), back}}
}
