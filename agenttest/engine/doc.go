// Package engine holds the conversation of a test run and evaluates it: the agent and a simulated caller take turns until one of
// them or a limit ends the conversation, then the assertions are evaluated.
//
// It stores no data. Answers of models are in a Journal, so that a run continues after a crash without repeating a paid call. A
// model that repeats its answers at no cost (llm.Repeatable), such as adapters/scripted, is asked again instead.
//
// # How a conversation ends
//
// The agent or the caller ends it, the caller has used up its turns, or the conversation loops: then the assertions decide the
// verdict. After all other ends the verdict is an error, independent of the agent: the model has failed, a turn or the run has
// lasted too long, the tokens are used up, or the simulated caller left its part. Runs whose context ends are cancelled. In all
// cases the outcome contains the conversation so far.
package engine
