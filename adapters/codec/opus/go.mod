module github.com/callwright/callwright/adapters/codec/opus

go 1.26.8

require (
	github.com/callwright/callwright v0.0.0
	github.com/thesyncim/gopus v0.1.1
)

require (
	go.uber.org/goleak v1.3.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
