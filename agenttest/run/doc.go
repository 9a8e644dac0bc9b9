// Package run executes scenarios: a run waits until a node claims it, holds its conversation there, and ends with a verdict.
//
// A Service starts, reads, cancels and watches runs. Its Worker executes what waits, on any number of nodes; a run whose node dies goes
// on at another one from its journal, without paying a model twice. What a run has to do with the group that it belongs to stands in
// Groups, which package group implements.
package run
