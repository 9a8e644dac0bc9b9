// Package ports shows requests to port telephone numbers: those that there are, one with its letter and its audit trail, and the form
// that starts one.
package ports

import (
	"embed"
	"errors"
	"io/fs"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/dashboard/page"
)

//go:embed templates/*.html
var files embed.FS

// Config names the services behind the pages. All are required.
type Config struct {
	Ports     *porting.Service
	Documents *document.Service
	Letters   *loa.Service
}

// pages serves the pages.
type pages struct{ cfg Config }

// maxFiles is how many documents a form may upload at once. More are added when the form is shown again, or by the API.
const maxFiles = 5

// New returns the pages of port requests.
func New(c Config) page.Area {
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return page.Area{
		Title: "Ports", Path: "/ports", Entitlement: callwright.EntitlementSIP, Templates: templates,
		Funcs: map[string]any{"state": state, "number": numberBadge, "words": words, "day": day, "remedy": remedy, "until": until, "steps": steps},
		Routes: []page.Route{
			{Pattern: "GET /ports", Serve: p.list},
			{Pattern: "GET /ports/check", Serve: p.check},
			{Pattern: "GET /ports/new", Serve: p.showNew},
			{Pattern: "POST /ports", MaxBody: maxFiles*document.MaxSize + page.MaxForm, Serve: p.start},
			{Pattern: "GET /ports/{id}", Serve: p.show},
			{Pattern: "GET /ports/{id}/letter.pdf", Serve: p.letter},
			{Pattern: "GET /ports/{id}/evidence.json", Serve: p.evidence},
			{Pattern: "GET /ports/{id}/documents/{document}", Serve: p.document},
			{Pattern: "POST /ports/{id}/cancel", Serve: p.cancel},
			{Pattern: "POST /ports/{id}/resend", Serve: p.resend},
		},
	}
}

// faultsOf returns everything that an error says about a form, by its inputs, and whether a person can mend it there.
func faultsOf(err error) (page.Faults, bool) {
	faults, ok := page.FaultsOf(err, nil)
	if !ok {
		return nil, false
	}
	all, many := errors.AsType[callwright.FieldErrors](err)
	if !many {
		e, _ := errors.AsType[*callwright.Error](err)
		all = callwright.FieldErrors{e}
	}
	clear(faults)
	for _, e := range all {
		name := inputOf(e.Field)
		if faults[name] != "" {
			faults[name] += " "
		}
		faults[name] += place(e.Field) + e.Message + "."
	}
	return faults, true
}

// inputOf returns the input of the form for a field of the domain, such as "street" for "losing_carrier_information.address.street".
func inputOf(field string) string {
	field, _, _ = strings.Cut(field, "[")
	return field[strings.LastIndexByte(field, '.')+1:]
}

// place returns which member of a list an error is about, such as "[2]: "; empty: none.
func place(field string) string {
	if at := strings.IndexByte(field, '['); at >= 0 {
		return field[at:] + ": "
	}
	return ""
}
