// Package node holds what one process of a deployment does beside its other processes: a Heartbeat says that it is alive, Leases give it
// exclusive rights until a time, Watchers wake readers of what it changes, and Budget and Shares bound what is in use and under way on it.
package node
