// Package httpapi serves the contract of openapi.yaml over HTTP, area by area.
//
// This package is the common code of the areas. It imports neither a domain nor generated code, but only package oas, whose type Area
// describes the generated part of an area. Each area is a package below this one, such as triageapi or sipapi. It implements the generated
// interface of its operations. A program passes the areas that it serves to New, so that it links only them and their domains.
//
// ServeHTTP assigns an id to each request, recovers panics and writes the log line (requestinfo.go). It serves the operational pages itself
// (pages.go), and passes any other request to the generated server of its area (area.go). That server checks the key and the entitlement
// (access.go), reads the body within its limits (body.go), decodes and validates it, and calls the area's method. The method translates the
// request, calls one method of a domain's service and translates the result.
//
// NewServer and Connections limit the resources that clients may hold: time (server.go, timedbody.go) and connections (listener.go).
//
// The code in failure.go converts all errors, including those of the generated code, to the envelopes of the contract. It contains the only
// table of error codes and HTTP statuses. Operations without a service answer 501; docs/status.md lists them.
package httpapi
