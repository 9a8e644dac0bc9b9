// Package engine holds the conversation of a test run and evaluates it. The agent and a simulated caller take turns until one of them or a
// limit ends the conversation. Then the engine evaluates the assertions.
//
// The engine stores no data. A Journal stores the answers of models, so that a run continues after a crash without repeating a paid call. A
// model that repeats its answers at no cost (llm.Repeatable), such as adapters/scripted, is called again instead.
//
// # How a conversation ends
//
// The agent or the caller ends it, the caller has used all its turns, or the conversation loops. In these cases the assertions decide the
// verdict. In all others the verdict is an error, independent of the agent: the model failed, a turn or the run exceeded its time limit,
// the budget is exhausted, or the simulated caller departed from its role. A run whose context is done is canceled. In all cases the
// outcome contains the conversation so far.
package engine
