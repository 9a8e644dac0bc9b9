// Package portingoas is the contract of port requests and letters of authorization: server, client, types and validation, generated from openapi.yaml.
package portingoas
