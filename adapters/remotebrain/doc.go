// Package remotebrain implements conversation.Brain with a service of any language. It posts each turn of a conversation to the service's
// URL, signed like a webhook, and reads the steps of the answer from a stream of JSON lines. docs/brains.md describes the protocol, and
// docs/brains.schema.json is its JSON schema. Check tests a service.
package remotebrain
