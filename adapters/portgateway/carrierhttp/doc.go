// Package carrierhttp serves the API of a scripted carrier over HTTP and imitates the faults of real networks, for tests of porting
// gateways. See portingtest.Carrier.
package carrierhttp
