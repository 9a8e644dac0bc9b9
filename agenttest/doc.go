// Package agenttest tests agents: simulated callers hold conversations with them, and assertions decide whether each
// conversation went as it should.
//
// A Service keeps scenarios and runs them: alone (run.Service), in batches, and many times in simulation sets (group.Service). It is the
// gate of promotions (pathway.Gate). Its Run executes what waits, on any number of nodes; a run whose node dies goes on at another
// one from its journal, without paying a model twice.
//
// The sub-packages stand on their own: scenario has what is tested, run and group execute it, assert decides about a conversation, judge asks a language
// model what no rule can decide, caller simulates callers, engine holds the conversations, runner walks pathways for it, tornado
// searches for versions that pass, and stats counts what came out.
package agenttest
