// Package agenttestoas is the contract of agent testing: server, client, types and validation, generated from openapi.yaml.
package agenttestoas
