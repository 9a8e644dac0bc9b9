// Package sipapi serves trunks, their numbers, health and call log, discoveries and test calls.
package sipapi
