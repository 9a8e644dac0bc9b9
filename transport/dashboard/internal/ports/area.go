// Package ports contains the dashboard's pages of port requests: the list, the form of a new request, and each request with its letter of
// authorization and audit trail.
package ports

import (
	"embed"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

//go:embed templates/*.html
var files embed.FS

// Config holds the services behind the pages. All are required.
type Config struct {
	Ports     *porting.Service
	Documents *document.Service
	Letters   *loa.Service
}

type pages struct{ cfg Config }

// maxFiles is the maximum number of documents in one form. Users add more when the form is shown again, or through the API.
const maxFiles = 5

// maxShown is the number of bytes to which typed values and file names are clipped.
const maxShown = 80

// New returns the area of the port requests' pages. It panics if the embedded templates cannot be opened.
func New(c Config) page.Area {
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible: the folder is embedded
	}
	return page.Area{
		Title: "Ports", Path: "/ports", Entitlement: callwright.EntitlementSIP, Templates: templates,
		Funcs: map[string]any{"state": state, "number": numberBadge, "day": day, "remedy": remedy, "acts": acts, "left": left},
		Routes: []page.Route{
			{Pattern: "GET /ports", Serve: p.list},
			{Pattern: "GET /ports/check", Serve: p.check},
			{Pattern: "GET /ports/new", Serve: p.showNew},
			{Pattern: "POST /ports", Files: maxFiles * document.MaxSize, Serve: p.start},
			{Pattern: "GET /ports/{id}", Serve: p.show},
			{Pattern: "GET /ports/{id}/letter.pdf", Serve: p.letter},
			{Pattern: "GET /ports/{id}/evidence.json", Serve: p.evidence},
			{Pattern: "GET /ports/{id}/documents/{document}", Serve: p.document},
			{Pattern: "POST /ports/{id}/cancel", Serve: p.cancel},
			{Pattern: "POST /ports/{id}/resend", Serve: p.resend},
		},
	}
}

// faultsOf converts an error to the faults of the form's inputs, and reports whether the user can correct them there. typed holds the typed
// members of lists, which the faults quote.
func faultsOf(err error, typed map[string][]string) (page.Faults, bool) {
	if _, ok := page.FaultsOf(err, nil); !ok {
		return nil, false
	}
	all, many := errors.AsType[callwright.FieldErrors](err)
	if !many {
		e, _ := errors.AsType[*callwright.Error](err)
		all = callwright.FieldErrors{e}
	}
	faults := page.Faults{}
	for _, e := range all {
		one, _ := page.FaultsOf(e, map[string]string{e.Field: inputOf(e.Field)}, fields...)
		for name, text := range one {
			if faults[name] != "" {
				faults[name] += " "
			}
			faults[name] += strings.TrimSuffix(member(e.Field, typed)+text, ".") + "."
		}
	}
	return faults, true
}

// inputOf returns the name of the form's input for a field of the domain, such as "street" for "losing_carrier_information.address.street".
func inputOf(field string) string {
	field, _, _ = strings.Cut(field, "[")
	return field[strings.LastIndexByte(field, '.')+1:]
}

// member returns the typed list member that an error concerns, as a prefix such as "+12065550123: ". It is empty if the field is no member
// of a list.
func member(field string, typed map[string][]string) string {
	_, rest, _ := strings.Cut(field, "[")
	index, _, _ := strings.Cut(rest, "]")
	list := typed[inputOf(field)]
	if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(list) {
		return callwright.Clip(list[i], maxShown) + ": "
	}
	return ""
}
