// Package portgateway contains gateways for package porting that need no account with a carrier. Simulated imitates a carrier for tests,
// demonstrations and new deployments. It ports no real number.
package portgateway
