package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/middleware"
	"github.com/ogen-go/ogen/ogenerrors"
	"github.com/ogen-go/ogen/openapi"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/oas"
)

// Area is a part of the contract that is generated, built and served separately, such as the operations of issues. Each package below this
// one returns an Area from its function New.
type Area struct {
	oas.Area

	// Absent reports whether an operation has no service here and answers 501. If nil, every operation has one.
	Absent func(operation string) bool
	// NoUploads is set if no operation that accepts an upload has a service. Those operations answer 501 without reading the upload.
	NoUploads bool
	// Detached names the operations of Repeatable that take seconds, such as synthesis. They must not hold a transaction for so long,
	// because SQLite has only one writer. Such an operation runs first, and its answer is stored afterwards. Two concurrent requests with
	// the same key both do the work, and receive the same answer. If the server crashes in between, the next request with the key does the
	// work again.
	Detached map[string]bool
	// Names maps operations to their own names of error codes.
	Names map[string]map[callwright.Code]string
	// LowerCase sends error codes in lower case, except AUTH_FAILURE, FEATURE_NOT_ENABLED and TOO_MANY_REQUESTS.
	LowerCase bool

	// Keyless reports whether a request for an operation requires no key, because the operation itself authorizes the request, for example
	// by a signed link. If nil, every request requires a key.
	Keyless func(operation string, r *http.Request) bool
	// Refuse replaces HandleError. If nil, HandleError is used.
	Refuse ogenerrors.ErrorHandler
	// Outer wraps the checks that all areas have in common, and the repetition of answers. Inner runs inside both. Either may be nil.
	Outer, Inner middleware.Middleware
	// Wrap returns the handler to use in place of the generated server, or an error for an area that is not configured. If nil, the
	// generated server is used.
	Wrap func(Server) (Server, error)
}

func (a *Area) absent(operation string) bool { return a.Absent != nil && a.Absent(operation) }

type (
	// Server is the generated server of an area.
	Server = oas.Server
	// Operation is an operation of the contract.
	Operation = oas.Operation
	// Answer is an answer that can be stored as JSON and repeated.
	Answer = oas.Answer
)

// methods lists the HTTP methods that operations use.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// serveContract passes a request to the server that implements its operation. If no server does, the server that knows the path answers
// 405. If no server knows the path, the answer is 404. No two areas share a path. HEAD is served as GET, and net/http discards the body.
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

// serveOperation passes a request with a bounded body to the server of its area. It records telemetry of the operation.
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

// logPath adds the ids in the path to the log line of a request, unless the method is GET. It omits tokens, because they are secrets.
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

// middleware wraps the handlers of an area. It refuses an operation without a service, a URL that databases cannot store, and unknown
// parameters. It repeats the first answer to a request with an Idempotency-Key.
func (a *API) middleware(req middleware.Request, next middleware.Next) (middleware.Response, error) {
	logPath(req)
	area := infoOf(req.Context).area
	return through(area.Outer, req, func(req middleware.Request) (middleware.Response, error) {
		if area.absent(req.OperationName) {
			return middleware.Response{}, ht.ErrNotImplemented
		}
		if err := checkURL(req.Raw.URL); err != nil {
			return middleware.Response{}, err
		}
		if err := checkQuery(req.Raw.URL, req.Params); err != nil {
			return middleware.Response{}, err
		}
		inner := func(req middleware.Request) (middleware.Response, error) { return through(area.Inner, req, next) }
		if area.Repeatable[req.OperationName] == nil {
			return inner(req)
		}
		return a.answerOnce(req, inner, area)
	})
}

// through calls the middleware m, or directly calls the handler next if m is nil.
func through(m middleware.Middleware, req middleware.Request, next middleware.Next) (middleware.Response, error) {
	if m == nil {
		return next(req)
	}
	return m(req, next)
}
