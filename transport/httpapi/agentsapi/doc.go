// Package agentsapi serves the operations of web agents, of inbound numbers with their agents, and of personas.
package agentsapi
