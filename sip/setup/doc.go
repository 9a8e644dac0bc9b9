// Package setup tells customers how to reach a deployment: which addresses and ports their firewalls let through, and how
// their telephone systems send calls here.
//
// Addresses, hosts and ports belong to a deployment, so the library has none of its own: [Config] takes them as a list of
// regions.
package setup
