package settings

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// menu is the part of each page that leads to the others.
type menu struct{ Places []place }

// place is a page of the menu.
type place struct {
	Path, Text string
	Here       bool
}

// menu returns the pages that a reader may see.
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
	here := 0 // the page with the longest path that is a prefix of this address, for example of a form
	for i, at := range all {
		if strings.HasPrefix(r.URL.Path+"/", at.Path+"/") && len(at.Path) > len(all[here].Path) {
			here = i
		}
	}
	all[here].Here = true
	return menu{all}
}

// once is the page of a secret that is shown once.
type once struct {
	menu

	What, Secret, Back string
}

// showOnce shows a secret that cannot be read again. No browser keeps the page.
func (p pages) showOnce(r *page.Request, what string, secret callwright.Secret, back string) page.Answer {
	return &page.View{Page: "once", Title: what, Data: once{p.menu(r), what, secret.Reveal(), back}}
}
