// Package speechoas is the contract of speech and voices: server, client, types and validation, generated from openapi.yaml.
package speechoas
