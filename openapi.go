package callwright

import _ "embed"

// OpenAPI is the HTTP contract, openapi.yaml, as text. A program that does not serve it does not carry it.
//
//go:embed openapi.yaml
var OpenAPI string
