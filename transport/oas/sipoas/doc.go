// Package sipoas contains the server, the client, the types and their validation for SIP trunks. They are generated from openapi.yaml.
package sipoas
