// Package testcall rings a trunk's endpoint with a real call and shows step by step what happens.
package testcall
