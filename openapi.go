package callwright

import _ "embed"

//go:generate env GOWORK=off go -C internal/tools run ./contract bundle ../../contract ../../openapi.yaml

// OpenAPI is the HTTP contract: the text of openapi.yaml. The linker omits it from programs that do not use it.
//
//go:embed openapi.yaml
var OpenAPI string
