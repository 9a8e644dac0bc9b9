package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/middleware"
	"github.com/ogen-go/ogen/openapi"

	"github.com/callwright/callwright"
)

// Area is a part of the contract that is generated, built and served on its own, such as the operations of issues. Each
// package below this one makes one.
type Area struct {
	// Build makes the area's server. Its handlers use the common functions of the API.
	Build func(*API) (Server, error)
	// Absent reports whether an operation has no service here and answers 501. Nil: none.
	Absent func(operation string) bool
	// NoUploads reports that no operation that takes an upload is built: they answer 501 before the upload is read.
	NoUploads bool
	// Repeatable makes the empty answer of each operation that takes an Idempotency-Key.
	Repeatable map[string]func() Answer
	// Detached names those operations of Repeatable that take seconds, such as synthesis, and must not hold a transaction for so
	// long: SQLite has one writer. Such an operation runs first, and then its answer is kept. Two requests with one key at the
	// same time both do the work, and get the same answer. A crash in between leaves work whose answer is not kept, which the
	// next request with the key does again.
	Detached map[string]bool
	// Wants describes valid members of bodies and parameters, for errors: the generated map of this name.
	Wants map[string]string
	// NullIsAbsent lists the members of bodies for which null is not a value: the generated map of this name.
	NullIsAbsent map[string]bool
	// NoEffect lists the known members of bodies that have no effect: the generated map of this name, if there is one.
	NoEffect map[string]NoEffect
	// Aliases maps other names of members of bodies to their names: the generated map of this name, if
	// there is one.
	Aliases map[string]string
	// Errors is the form of the area's errors. The zero value is the form of most areas.
	Errors ErrorForm
}

func (a *Area) absent(operation string) bool { return a.Absent != nil && a.Absent(operation) }

// ErrorForm describes how the errors of an area differ from the common form.
type ErrorForm struct {
	// Flat are the operations whose errors are {status, message, errors}: x-callwright-envelope: B in the contract.
	Flat map[string]bool
	// Names maps operations to their own names of codes.
	Names map[string]map[callwright.Code]string
	// LowerCase sends codes in lower case, except for the codes of refused keys, entitlements and rates.
	LowerCase bool
}

// Server is the generated server of an area.
type Server interface {
	http.Handler
	// Find returns the operation that a method and a URL lead to.
	Find(method string, u *url.URL) (o Operation, ok bool)
}

// Operation is an operation of the contract.
type Operation struct {
	Name string // as generated code has it, such as GetCall
	ID   string // as the contract has it, such as getCall
	Path string // with the names of its parameters, such as /v1/calls/{call_id}
}

// Route lists the methods that the routes of all generated servers share.
type Route interface {
	Name() string
	OperationID() string
	PathPattern() string
}

// GeneratedServer lists the methods that all generated servers share.
type GeneratedServer[R Route] interface {
	http.Handler
	FindPath(method string, u *url.URL) (R, bool)
}

// Generated makes a Server of the results of a generated NewServer.
func Generated[R Route](s GeneratedServer[R], err error) (Server, error) {
	return generated[R]{s}, err
}

type generated[R Route] struct{ GeneratedServer[R] }

func (g generated[R]) Find(method string, u *url.URL) (o Operation, ok bool) {
	route, ok := g.FindPath(method, u)
	if !ok {
		return Operation{}, false
	}
	return Operation{Name: route.Name(), ID: route.OperationID(), Path: route.PathPattern()}, true
}

// methods are the HTTP methods that operations have.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// serveContract hands a request to the server of its area: the one that has the operation, or else the one that has the
// path, which answers 405. No path belongs to two areas. HEAD leads to the operation of GET; net/http drops the body.
func (a *API) serveContract(w *answerWriter, r *http.Request) {
	method := r.Method
	r.URL = withLowerIDs(withKnownPath(method, r.URL))
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, area := range a.areas {
		if operation, ok := area.server.Find(method, r.URL); ok {
			a.serveOperation(w, r, method, area, operation)
			return
		}
	}
	for _, area := range a.areas {
		for _, method := range methods {
			if _, ok := area.server.Find(method, r.URL); ok {
				area.server.ServeHTTP(w, r)
				return
			}
		}
	}
	NotFound(w, r)
}

// serveOperation serves a request with the method of its operation.
func (a *API) serveOperation(w *answerWriter, r *http.Request, method string, area mounted, o Operation) {
	info := infoOf(r.Context())
	info.area, info.operation, info.route = area.Area, o.Name, o.Path
	body, release := a.guard(w, r, area.NoUploads || area.absent(o.Name), members{area.Area, o.ID, info})
	defer release()
	r.Body = body
	a.telemetry.observe(r.Context(), r.Method, o,
		func(ctx context.Context) {
			r := r.WithContext(ctx)
			r.Method = method
			area.server.ServeHTTP(w, r)
		},
		func() (int, error) { return w.status, info.failure })
}

// logPath adds the ids in the path of a change to its log line, but not a token, which is a secret.
func logPath(req middleware.Request) {
	if req.Raw.Method == http.MethodGet {
		return
	}
	names := make([]string, 0, len(req.Params))
	for key := range req.Params {
		if key.In == openapi.LocationPath && key.Name != "token" {
			names = append(names, key.Name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value, _ := req.Params.Path(name)
		LogID(req.Context, name, fmt.Sprint(value))
	}
}

// Middleware wraps the handlers of an area: it refuses an operation without a service, a URL that no database takes and
// unknown parameters, and repeats the first answer to a request with an Idempotency-Key.
func (a *API) Middleware(req middleware.Request, next middleware.Next) (middleware.Response, error) {
	logPath(req)
	area := infoOf(req.Context).area
	if area.absent(req.OperationName) {
		return middleware.Response{}, ht.ErrNotImplemented
	}
	if err := checkURL(req.Raw.URL); err != nil {
		return middleware.Response{}, err
	}
	if err := checkQuery(req.Raw.URL, req.Params); err != nil {
		return middleware.Response{}, err
	}
	if area.Repeatable[req.OperationName] == nil {
		return next(req)
	}
	return a.answerOnce(req, next, area)
}
