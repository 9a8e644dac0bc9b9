// Package sipapi serves the operations of SIP trunks: their numbers, health and call log, discoveries, test calls and proofs of numbers.
package sipapi
