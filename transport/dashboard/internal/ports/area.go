// Package ports shows requests to port telephone numbers: the list, one request with its letter and its audit trail, and the form
// of a new one.
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

// Config names the services behind the pages. All are required.
type Config struct {
	Ports     *porting.Service
	Documents *document.Service
	Letters   *loa.Service
}

// pages serves the pages.
type pages struct{ cfg Config }

// maxFiles is the maximum number of documents in one form. More are added when the form is shown again, or by the API.
const maxFiles = 5

// maxShown is the maximum number of shown characters of typed values and of file names.
const maxShown = 80

// New returns the pages of port requests.
func New(c Config) page.Area {
	p := pages{c}
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // the folder is embedded
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

// faultsOf returns the faults of a form in an error, by its inputs, and reports whether a person can mend them there. typed
// contains the typed members of lists, which faults name.
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

// inputOf returns the input of the form for a field of the domain, such as "street" for "losing_carrier_information.address.street".
func inputOf(field string) string {
	field, _, _ = strings.Cut(field, "[")
	return field[strings.LastIndexByte(field, '.')+1:]
}

// member returns the member of a list that an error is about, as it was typed, such as "+12065550123: "; empty: none.
func member(field string, typed map[string][]string) string {
	_, rest, _ := strings.Cut(field, "[")
	index, _, _ := strings.Cut(rest, "]")
	list := typed[inputOf(field)]
	if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(list) {
		return callwright.Clip(list[i], maxShown) + ": "
	}
	return ""
}
