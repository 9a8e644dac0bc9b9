// Package page serves the pages of a dashboard: it authenticates requests, checks forms, renders templates and keeps pages up to date. It knows no
// domain: each has a package beside this one, which makes an Area.
package page

import (
	"context"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// Area is the pages of one domain.
type Area struct {
	Title       string                 // in the navigation; empty: it is not there
	Path        string                 // of its first page, such as "/calls"
	Entitlement callwright.Entitlement // without which no page is shown, nor the area in the navigation; empty: none is needed
	Templates   fs.FS                  // its *.html: see View.Page
	Funcs       template.FuncMap       // for its templates, in addition to the functions of this package
	Routes      []Route

	shared []fs.FS
}

// With returns the area with templates that several areas share, which are in files whose names begin with "_", and their functions.
func (a Area) With(templates fs.FS, funcs template.FuncMap) Area {
	a.shared = append(slices.Clip(a.shared), templates)
	all := maps.Clone(funcs)
	if all == nil {
		all = template.FuncMap{}
	}
	maps.Copy(all, a.Funcs)
	a.Funcs = all
	return a
}

// Route is a page, or the action of one of its forms.
type Route struct {
	Pattern string // of http.ServeMux, such as "GET /calls/{id}"; every other method but GET needs the token of a form
	MaxBody int64  // bytes of a form, without its files; 0: MaxForm
	Files   int64  // bytes of the files that a form may bring beside; 0: it brings none
	Serve   func(ctx context.Context, r *Request) (Answer, error)
}

// MaxForm is the most that a form may have beside its files, in bytes, unless its Route says otherwise.
const MaxForm = 1 << 20

// Answer answers a request: a *View, a SeeOther or a Content. It returns an error if nothing was sent.
type Answer interface {
	answer(s *Site, w http.ResponseWriter, r *Request) error
}

// View is a page.
type View struct {
	// Page names the template: "call" is the file call.html of the area, which defines "main". Files whose names begin with "_" are
	// parts that all pages of the area share. The dot of the templates is Data.
	Page   string
	Title  string
	Status int // 0: 200
	Data   any

	// Live names templates of the page whose output changes while it is open. Each renders one element with the id "live-NAME",
	// which the browser replaces when it has changed. It is rendered once for all people of an organization who look at the same address
	// in the same time zone, so it must not depend on the person.
	Live []string
	// Every is the time between two renderings of Live; 0: LiveEvery.
	Every time.Duration
	// Wait returns when something may have changed, or with its context. nil: Live is rendered at intervals of Every.
	Wait func(ctx context.Context) error
}

// LiveEvery is the time between two renderings of live parts, unless View.Every is set.
const LiveEvery = 2 * time.Second

// SeeOther sends the browser to another page, after a form has done something.
type SeeOther struct {
	To     string // path below the prefix, with its query
	Notice string // shown there once; at most 500 characters; empty: none
}

// Content is an answer of another type than HTML, such as audio.
type Content struct {
	Send  func(w http.ResponseWriter, r *http.Request) // has 30 seconds for each piece that the browser takes
	Close func() error                                 // closes the source of Send, even when Send was not called; nil: there is nothing to close
}
