// Package oas contains the HTTP contract in Go. Below it is a generated package for each area, with the server, the client, the types and
// their validation. Only these parts are written by hand: ogen.yml, which configures the generator; the packages' comments; Area, with
// which package httpapi serves the generated code; and internal/codec, which the generated code calls.
//
// Edit the contract in the folder contract. Then
//
//	make generate
//
// writes openapi.yaml and the packages, with the generator that internal/tools pins. The rules in internal/tools/contract/simplify then
// shorten the generated code: they replace repeated code by calls of internal/codec, without changing answers or the texts of errors. Only
// optional values, and GetStatusCode of errors, have accessors. The generated files are committed, and generating them again makes no
// difference.
//
// A schema that several areas use is generated in each of them. A program therefore links only the areas that it imports, and a change of
// an area rebuilds only that area.
package oas

//go:generate env GOWORK=off go -C ../../internal/tools run ./contract generate ../../openapi.yaml ../../transport/oas callsoas=Calls agentsoas=Agents,Inbound,Personas sipoas=Sip pathwaysoas=Pathways triageoas=Triage portingoas=Porting agenttestoas=AgentTesting speechoas=Speech webhooksoas=Webhooks
