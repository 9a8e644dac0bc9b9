// Package agentsoas is the contract of web agents, inbound numbers and personas: server, client, types and validation, generated from openapi.yaml.
package agentsoas
