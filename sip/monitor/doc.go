// Package monitor watches outbound trunks: it asks each of their servers with OPTIONS every minute, takes in what calls
// say of them, decides which server calls go to first, and raises alerts. One node probes a trunk, whichever it is.
package monitor
