// Package triageoas is the contract of issues: server, client, types and validation, generated from openapi.yaml.
package triageoas
