// Package node coordinates a process of a deployment with the other processes. A Heartbeat reports that the process is alive. A Holder
// claims work, holds it, and drains it when the process stops. Leases grant exclusive rights for a limited time. Watchers notify readers of
// changes. Budget and Shares limit the use of resources and the concurrent work on the node.
package node
