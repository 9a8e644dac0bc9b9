// Package agenttest tests agents: simulated callers hold conversations with them, and assertions decide whether each
// conversation went as it should.
//
// It is being built. Its sub-packages stand on their own: scenario has what is tested, assert decides about a conversation,
// judge asks a language model what no rule can decide, caller simulates callers, engine holds the conversations, and stats
// counts what came out.
package agenttest
