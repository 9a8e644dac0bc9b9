// Package engine holds the conversation of a test run and evaluates it: the agent and a simulated caller take turns until one
// of them ends the conversation or a limit does, then the assertions are evaluated.
//
// It keeps nothing. What a run has asked of models stands in a Journal, so that a run that a crash has interrupted goes on
// from where it was without repeating a paid call.
package engine
