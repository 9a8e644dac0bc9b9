// Package setup tells customers how to reach a deployment: which addresses and ports their firewalls let through, and how
// their telephone systems send calls here. It also keeps the set-ups of trunks that are under way, so that they can be left and taken up
// again.
//
// Addresses, hosts and ports belong to a deployment, so the library has none of its own: [Config] takes them as a list of
// regions.
package setup
