// Package httpapi serves the contract of openapi.yaml over HTTP, area by area.
//
// This package is the common code of the areas. It imports no domain, and of generated code only the form (oas.Area). Each area is a package below this one:
// triageapi, sipapi and so on. It implements the generated interface of its operations, and a program passes the areas
// that it serves to New, so that it is built of these and their domains only.
//
// A request goes one way. ServeHTTP gives it an id, recovers panics and writes its log line (requestinfo.go). The operational
// pages are answered there (pages.go); anything else goes to the generated server of its area (area.go), which checks the
// key and the entitlement (access.go), reads the body within its bounds (body.go), decodes and validates it, and calls the
// area's method. That translates the request, calls one method of a domain's service and translates its answer.
//
// NewServer and Connections limit the resources that clients may hold: time (server.go, timedbody.go) and connections (listener.go).
//
// Errors of every kind, of the generated code too, become one envelope in failure.go, which holds the only table of
// error codes and HTTP statuses. Operations whose service is not built answer 501; docs/status.md lists them.
package httpapi
