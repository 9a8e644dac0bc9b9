// Package triageoas contains the server, the client, the types and their validation for issues. They are generated from openapi.yaml.
package triageoas
