// A module of its own, so that programs that use other models do not carry it.
module github.com/callwright/callwright/adapters/anthropic

go 1.26.8

require github.com/callwright/callwright v0.0.0
