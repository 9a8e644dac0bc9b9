// Package node coordinates one process of a deployment with the others: a Holder claims work, holds it and drains it, and a Heartbeat
// reports that the process is alive. Leases give it exclusive rights until a time, Watchers wake readers of its changes, and Budget and
// Shares bound resources and concurrent work on it.
package node
