package oas

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/ogen-go/ogen/middleware"
)

// Area is the generated part of an area. Function Area of each package below this one returns one. The keys of Wants, NullIsAbsent,
// NoEffect and Aliases are an operation's id and, behind a space, the member's path with [] for the items of a list.
type Area struct {
	// Serve returns the area's server.
	Serve func(Core) (Server, error)
	// Wants describes valid members of bodies and parameters, for errors. A parameter's name is behind a question mark; Content-Type
	// is the key of a body's types.
	Wants map[string]string
	// NullIsAbsent lists the members of bodies for which null is not a value.
	NullIsAbsent map[string]bool
	// NoEffect lists the known members of bodies that have no effect: x-no-effect in the contract.
	NoEffect map[string]NoEffect
	// Aliases maps other names of members of bodies to their names: x-alias-of in the contract.
	Aliases map[string]string
	// Flat lists the operations whose errors are {status, message, errors}: x-callwright-envelope: B in the contract.
	Flat map[string]bool
	// Repeatable makes the empty answer of each operation that takes an Idempotency-Key.
	Repeatable map[string]func() Answer
}

// Core is the common part of the servers of all areas. The API of package httpapi fills it.
type Core struct {
	// Authorize authenticates a request and checks entitlements.
	Authorize func(ctx context.Context, r *http.Request, entitlements []string) (context.Context, error)
	// NewFailure translates the error of an operation.
	NewFailure func(ctx context.Context, err error) Failure
	// HandleError answers requests that the server could not decode, and answers that it failed to encode.
	HandleError func(ctx context.Context, w http.ResponseWriter, r *http.Request, err error)
	// MethodNotAllowed answers a request for a path that takes other methods only, separated by commas.
	MethodNotAllowed func(w http.ResponseWriter, r *http.Request, allowed string)
	// Middleware wraps the operations.
	Middleware middleware.Middleware
	// UploadMemory bounds the bytes of a form that are held in memory.
	UploadMemory int64
}

// Failure is an error as a client gets it: the parts of every area's generated answer to a request that failed.
type Failure struct {
	Status     int
	RetryAfter struct { // seconds
		Value int
		Set   bool
	}
	Body []byte // the envelope, as JSON
}

// Server is the generated server of an area.
type Server interface {
	http.Handler
	// Find returns the operation that a method and a URL lead to.
	Find(method string, u *url.URL) (o Operation, ok bool)
}

// Operation is an operation of the contract.
type Operation struct {
	Name string // in generated code, such as GetCall
	ID   string // in the contract, such as getCall
	Path string // with the names of its parameters, such as /v1/calls/{call_id}
}

// Answer is an answer that can be stored as JSON and repeated.
type Answer interface {
	json.Marshaler
	json.Unmarshaler
}

// NoEffect describes the treatment of a known member of a body that has no effect.
type NoEffect struct {
	Nothing []string // the values that ask for nothing, as JSON. They are accepted in silence, as null is
	Refused bool     // whether other values are refused, because ignoring them would harm. Otherwise they are ignored
	Reason  string   // why there is no effect
}
