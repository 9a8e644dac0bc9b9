// Package manualtest tests implementations of the store of package manual.
package manualtest
