// Package portgateway has gateways for package porting that need no carrier's account. Simulated is a carrier by the clock, for tests,
// demonstrations and new deployments; it moves no real number.
package portgateway
