// Package callsoas contains the server, the client, the types and their validation for calls, their records and recordings. They are
// generated from openapi.yaml.
package callsoas
