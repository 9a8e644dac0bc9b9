// Package agentsapi serves web agents, inbound numbers with their agents, and personas.
package agentsapi
