// Package run executes scenarios. A run waits until a node claims it, holds its conversation there, and ends with a verdict.
//
// A Service starts, reads, cancels and watches runs. Its Worker executes waiting runs, on any number of nodes. If a node dies, another one
// resumes its runs from their journals, without paying a model twice. Groups is the interface to groups of runs, which package group
// implements.
package run
