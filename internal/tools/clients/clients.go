// Package clients pins oapi-codegen and the libraries that its code imports. scripts/check-clients.sh generates a client
// of the contract with it and compiles that; nothing of it is committed.
package clients

import (
	_ "github.com/getkin/kin-openapi/openapi3"
	_ "github.com/labstack/echo/v4"
	_ "github.com/oapi-codegen/runtime"
	_ "github.com/oapi-codegen/runtime/types"
)
