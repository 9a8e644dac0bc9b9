// Package pathwaysoas contains the server, the client, the types and their validation for pathways, their versions and chats. They are
// generated from openapi.yaml.
package pathwaysoas
