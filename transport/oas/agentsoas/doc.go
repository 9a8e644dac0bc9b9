// Package agentsoas contains the server, the client, the types and their validation for web agents, inbound numbers and personas. They are
// generated from openapi.yaml.
package agentsoas
