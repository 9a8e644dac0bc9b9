// Package pathwaysoas is the contract of pathways, their versions and chats: server, client, types and validation, generated from openapi.yaml.
package pathwaysoas
