// Package speechoas contains the server, the client, the types and their validation for speech and voices. They are generated from
// openapi.yaml.
package speechoas
