// Package portingoas contains the server, the client, the types and their validation for port requests and letters of authorization. They
// are generated from openapi.yaml.
package portingoas
