// Package deps keeps modules in go.mod while they are built in.
package deps

import (
	_ "github.com/ohler55/ojg/jp"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
)
