// Package setup describes to customers how to reach a deployment: the addresses and ports for their firewalls, and the settings for calls
// from their telephone systems. It also stores the set-ups of trunks in progress, so that customers can interrupt and resume them.
//
// The library has no defaults for addresses, hosts and ports, because they depend on the deployment: [Config] contains them as a list of
// regions.
package setup
