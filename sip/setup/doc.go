// Package setup describes to customers the way to reach a deployment: the addresses and ports for their firewalls, and the settings
// for calls from their telephone systems. It also stores the set-ups of trunks in progress, so that they can be interrupted and
// resumed.
//
// Addresses, hosts and ports belong to a deployment, so the library has no defaults: [Config] takes them as a list of regions.
package setup
