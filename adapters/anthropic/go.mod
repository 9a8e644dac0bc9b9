// A module of its own, so that programs that use other models do not carry it.
module github.com/callwright/callwright/adapters/anthropic

go 1.26.8

require github.com/callwright/callwright v0.0.0

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/ohler55/ojg v1.28.5 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
