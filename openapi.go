package callwright

import _ "embed"

//go:generate go -C internal/tools run ./contract bundle ../../contract ../../openapi.yaml

// OpenAPI is the HTTP contract, openapi.yaml, as text. A program that does not serve it does not carry it.
//
//go:embed openapi.yaml
var OpenAPI string
