// Package oas is the HTTP contract in Go: server, client, types and validation, all generated from
// openapi.yaml in the root of the repository. Only this file and ogen.yml are written by hand.
//
// The contract is changed in openapi.yaml; then
//
//	go generate ./transport/oas
//
// writes the package again with the generator that internal/tools pins. The generated files are
// committed, and generating them twice gives no difference.
//
// One handler interface stands for each area (CallsHandler, SipHandler and so on), Handler joins them, and
// UnimplementedHandler answers ErrNotImplemented for each operation, so that a server may embed it and
// overwrite what it has built. Security roles (the entitlements) arrive at the SecurityHandler before a
// request is decoded.
package oas

//go:generate go -C ../../internal/tools tool ogen --target ../../transport/oas --package oas --config ../../transport/oas/ogen.yml --clean --loglevel error ../../openapi.yaml
