// Package agenttest tests agents: simulated callers hold conversations with them, and assertions judge each conversation.
//
// A Service stores scenarios and runs them: alone (run.Service), in batches, and many times in simulation sets (group.Service). It
// is the gate of promotions (pathway.Gate). Its Run executes waiting runs, on any number of nodes. If a node dies, another one
// resumes its runs from their journals, without paying a model twice.
//
// The sub-packages are independent: scenario defines the tests, run and group execute them, assert judges a conversation by rules,
// judge by a language model, caller simulates callers, engine holds the conversations, runner runs pathways for it, tornado
// searches for versions that pass, and stats evaluates the results.
package agenttest
