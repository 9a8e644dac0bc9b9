// Package caller simulates the people who call an agent in a test: a model that plays a persona, the lines of a script, or
// the caller of a real call.
package caller
