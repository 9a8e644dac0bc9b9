// Package webhooksoas contains the server, the client, the types and their validation for webhook endpoints and their deliveries. They are
// generated from openapi.yaml.
package webhooksoas
