// Package agentsapi serves web agents, what answers at inbound numbers, and personas.
package agentsapi
