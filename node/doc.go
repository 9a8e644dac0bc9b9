// Package node coordinates one process of a deployment with the others: a Heartbeat reports that it is alive, Leases give it
// exclusive rights until a time, Watchers wake readers of its changes, and Budget and Shares bound resources and concurrent work on
// it.
package node
