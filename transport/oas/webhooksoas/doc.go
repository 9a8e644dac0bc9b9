// Package webhooksoas contains the server, the client, the types and their validation for paused webhook endpoints. They are
// generated from openapi.yaml.
package webhooksoas
