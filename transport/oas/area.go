package oas

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/ogen-go/ogen/middleware"
)

// Area is the generated part of an area. The function Area of each package below this one returns it. A key of Wants, NullIsAbsent,
// NoEffect or Aliases consists of an operation's id, a space and a member's path, with [] for the items of a list.
type Area struct {
	// Serve returns the server of the area, which calls the functions of the Core.
	Serve func(Core) (Server, error)
	// Wants describes valid members of bodies and valid parameters, for error messages. A question mark precedes the name of a parameter in
	// its key. The name Content-Type describes the media types of a body.
	Wants map[string]string
	// NullIsAbsent contains the members of bodies for which null means that they are absent.
	NullIsAbsent map[string]bool
	// NoEffect contains the known members of bodies that have no effect: x-no-effect in the contract.
	NoEffect map[string]NoEffect
	// Aliases maps alternative names of members of bodies to the names in the contract: x-alias-of in the contract.
	Aliases map[string]string
	// Flat contains the operations whose errors are {status, message, errors}: x-callwright-envelope: B in the contract.
	Flat map[string]bool
	// Repeatable maps each operation that accepts an Idempotency-Key to a function that returns an empty answer, into which a stored answer
	// is decoded.
	Repeatable map[string]func() Answer
}

// Core holds the functions that the servers of all areas share. The API of package httpapi supplies it.
type Core struct {
	// Authorize authenticates a request and checks the entitlements that its operation requires. It returns a context for the operation.
	Authorize func(ctx context.Context, r *http.Request, entitlements []string) (context.Context, error)
	// NewFailure translates the error of an operation into an answer.
	NewFailure func(ctx context.Context, err error) Failure
	// HandleError answers a request that the server could not decode, or whose answer it could not encode.
	HandleError func(ctx context.Context, w http.ResponseWriter, r *http.Request, err error)
	// MethodNotAllowed answers a request whose path allows only other methods. allowed separates them by commas.
	MethodNotAllowed func(w http.ResponseWriter, r *http.Request, allowed string)
	// Middleware wraps every operation of the area.
	Middleware middleware.Middleware
	// UploadMemory is the number of bytes of a form that are held in memory. The rest is in temporary files.
	UploadMemory int64
}

// Failure is the content of an error answer, which the generated error types of all areas have in common.
type Failure struct {
	Status     int
	RetryAfter struct { // in seconds
		Value int
		Set   bool
	}
	Body []byte // JSON of the envelope
}

// Server is the generated server of an area.
type Server interface {
	http.Handler
	// Find returns the operation that serves a method and a URL. ok is false if there is none.
	Find(method string, u *url.URL) (o Operation, ok bool)
}

// Operation is an operation of the contract.
type Operation struct {
	Name string // name in generated code, such as GetCall
	ID   string // id in the contract, such as getCall
	Path string // path with parameter names, such as /v1/calls/{call_id}
}

// Answer is an answer that can be stored as JSON and repeated.
type Answer interface {
	json.Marshaler
	json.Unmarshaler
}

// NoEffect describes the treatment of a known member of a body that has no effect.
type NoEffect struct {
	Nothing []string // JSON of the values that request nothing; they are accepted silently, as null is
	Refused bool     // refuse other values, because ignoring them would be harmful; otherwise they are ignored
	Reason  string   // reason why the member has no effect, for messages
}
