// Package agentsapi serves web agents, what answers at inbound numbers, and personas, which are not built yet.
package agentsapi
