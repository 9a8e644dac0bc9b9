// Package agenttest tests agents: simulated callers hold conversations with them, and assertions check each conversation.
//
// A Service manages scenarios and runs them: alone, in batches, and many times in simulation sets. It is the gate of promotions
// (pathway.Gate). Its Run executes waiting runs, on any number of nodes; a run whose node dies continues on another one from its
// journal, without paying a model twice.
//
// The sub-packages stand on their own: scenario defines tests, assert evaluates a conversation, judge asks a language model about
// criteria that no rule can decide, caller simulates callers, engine holds the conversations, runner walks pathways for it, tornado
// searches for versions that pass, and stats computes statistics.
package agenttest
