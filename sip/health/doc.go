// Package health is the state machine of a trunk's servers: what probes and calls say of a server, and since when.
//
// One missed answer makes a server suspect and not unreachable, and one answer does not make it healthy again.
package health
