// Package engine holds the conversation of a test run and evaluates it: the agent and a simulated caller take turns until one
// of them ends the conversation or a limit does, then the assertions are evaluated.
//
// It keeps nothing. What models have answered stands in a Journal, so that a run that a crash has interrupted goes on from where
// it was without repeating a paid call. A model that repeats its answers for nothing (llm.Repeatable), such as
// adapters/scripted, is asked again instead.
//
// # How a conversation ends
//
// The agent or the caller ends it, the caller has taken its turns, or the conversation goes round in circles: then the
// assertions decide the verdict. The other ends say nothing about the agent, and the verdict is an error: the model has
// failed, a turn or the run has lasted too long, the tokens are used up, or the simulated caller was off script. Runs whose
// context ends are cancelled. In all cases the outcome has what was said until then.
package engine
