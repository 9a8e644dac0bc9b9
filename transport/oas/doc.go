// Package oas is the HTTP contract in Go: server, client, types and validation, all generated from
// openapi.yaml in the root of the repository. Only this file, raw.go and ogen.yml are written by hand.
//
// The contract is changed in its parts, in the folder contract; then
//
//	make generate
//
// joins them to openapi.yaml and writes the package again with the generator that internal/tools pins. The generated
// files are committed, and generating them twice gives no difference.
//
// One handler interface stands for each area (CallsHandler, SipHandler and so on), Handler joins them, and
// UnimplementedHandler answers ErrNotImplemented for each operation, so that a server may embed it and
// overwrite what it has built. Security roles (the entitlements) arrive at the SecurityHandler before a
// request is decoded.
package oas

//go:generate go -C ../../internal/tools run ./contract generate -package oas -target ../../transport/oas ../../openapi.yaml
