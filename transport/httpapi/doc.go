// Package httpapi serves the contract of openapi.yaml over HTTP.
//
// A request goes one way. The outermost handler gives it an id, recovers panics and writes its log line (exchange.go).
// The operational pages are answered there (pages.go); everything else goes to the generated server, which checks the
// key and the entitlement (access.go), reads the body within its bounds (body.go), decodes and validates it, and calls
// a method of api. There is one file of such methods for each area: calls.go, inbound.go, agents.go, pathways.go, sip.go,
// triage.go. A method translates the request, calls one method of a domain's service and translates its answer.
//
// Errors of every kind, of the generated code too, become one envelope in failure.go, which holds the only table of
// error codes and HTTP statuses. Operations whose service is not built answer 501 from the generated
// UnimplementedHandler; docs/status.md lists them.
package httpapi
