// Package sipoas is the contract of SIP trunks: server, client, types and validation, generated from openapi.yaml.
package sipoas
