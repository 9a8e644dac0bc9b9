// Package oas is the home of the HTTP contract in Go: below it lies a generated package for each area, with the server, the
// client, the types and their validation. By hand are only ogen.yml, which says what is generated, the packages' comments, Area, by which
// package httpapi serves what is generated, and internal/codec, which the generated code calls.
//
// The contract is changed in the folder contract; then
//
//	make generate
//
// writes openapi.yaml and the packages again, with the generator that internal/tools pins. What the generator writes is then made shorter:
// internal/tools/contract/simplify has rules that put calls of internal/codec in the place of what repeats, and change neither bytes nor
// texts of errors. Exported fields have no accessors but GetStatusCode of errors; optional values have theirs. The generated files are committed,
// and generating them twice gives no difference. A schema that several areas use is generated in each of them: so a program
// is built of the areas that it imports and nothing else, and a change of an area builds that area again and no other.
package oas

//go:generate env GOWORK=off go -C ../../internal/tools run ./contract generate ../../openapi.yaml ../../transport/oas callsoas=Calls agentsoas=Agents,Inbound,Personas sipoas=Sip pathwaysoas=Pathways triageoas=Triage portingoas=Porting agenttestoas=AgentTesting speechoas=Speech webhooksoas=Webhooks
