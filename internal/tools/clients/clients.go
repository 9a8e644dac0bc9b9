// Package clients pins the versions of oapi-codegen and of the libraries that its generated code imports. scripts/check-clients.sh
// generates and compiles a client of the contract. The generated code is not committed.
package clients

import (
	_ "github.com/getkin/kin-openapi/openapi3"
	_ "github.com/labstack/echo/v4"
	_ "github.com/oapi-codegen/runtime"
	_ "github.com/oapi-codegen/runtime/types"
)
