// Package manualtest contains the conformance suite for manual.Store.
package manualtest
