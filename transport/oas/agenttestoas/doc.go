// Package agenttestoas contains the server, the client, the types and their validation for agent testing. They are generated from
// openapi.yaml.
package agenttestoas
