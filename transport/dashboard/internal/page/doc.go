// Package page serves the pages of a dashboard. It authenticates requests, checks forms, renders templates and updates open pages. It
// depends on no domain: a sibling package per domain creates an Area.
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

// Area contains the pages of one domain.
type Area struct {
	Title       string                 // link text in the navigation; if empty, there is no link
	Path        string                 // path of the first page, such as "/calls"
	Entitlement callwright.Entitlement // required for the pages and the link; empty means none
	Templates   fs.FS                  // files *.html: see View.Page
	Funcs       template.FuncMap       // for Templates, in addition to the functions of this package
	Routes      []Route

	shared []fs.FS
}

// With returns the area with additional templates and functions, which several areas can share. The templates are in files whose names
// begin with "_". The area's own functions override additional functions of the same name.
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

// Route is a page or the action of a form.
type Route struct {
	Pattern string // of http.ServeMux, such as "GET /calls/{id}"; only GET and HEAD need no CSRF token
	MaxBody int64  // maximum bytes of a form without its files; default MaxForm
	Files   int64  // maximum bytes of the uploaded files; 0 allows no files
	Serve   func(ctx context.Context, r *Request) (Answer, error)
}

// MaxForm is the default of Route.MaxBody, in bytes.
const MaxForm = 1 << 20

// Answer is the response to a request: a *View, a SeeOther or a Content. Its method returns an error only if it has sent nothing.
type Answer interface {
	answer(s *Site, w http.ResponseWriter, r *Request) error
}

// View is an HTML page.
type View struct {
	// Page names the template. For example, "call" is the file call.html of the area, which must define the template "main". All pages of
	// the area can use the templates in files whose names begin with "_". The templates receive Data.
	Page   string
	Title  string
	Status int // default 200
	Data   any

	// Live names templates whose output changes while the page is open. Each renders one element with the id "live-NAME", which the browser
	// replaces after a change. The output is shared by all users of an organization who open the same URL with the same entitlements and
	// time zone. It must not depend on the user.
	Live []string
	// Every is the interval between two renderings of Live, up to 30 seconds. The zero value means LiveEvery. It applies if Wait is nil or
	// fails.
	Every time.Duration
	// Wait returns nil when Live may have changed, and an error when its context ends, after 30 seconds at the latest. Live is then
	// rendered again. If nil, Live is rendered at intervals of Every.
	Wait func(ctx context.Context) error
}

// LiveEvery is the default of View.Every, and the interval of Poll.
const LiveEvery = 2 * time.Second

// SeeOther redirects the browser to another page after a form was processed.
type SeeOther struct {
	To     string // path below Config.Prefix, with its query
	Notice string // shown once on the next page; truncated to 500 bytes; may be empty
}

// Content is a response that is not HTML, such as audio.
type Content struct {
	Send  func(w http.ResponseWriter, r *http.Request) // each Write to w has 30 seconds
	Close func() error                                 // closes the source of Send, even if Send was not called; may be nil
}
