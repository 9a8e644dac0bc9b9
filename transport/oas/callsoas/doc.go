// Package callsoas is the contract of calls, their records and recordings: server, client, types and validation, generated from openapi.yaml.
package callsoas
