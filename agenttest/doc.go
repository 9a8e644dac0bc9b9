// Package agenttest tests agents: simulated callers hold conversations with them, and assertions judge each conversation.
//
// A Service stores scenarios and runs them: alone (run.Service), in batches, and many times in simulation sets (group.Service). It
// is the gate of promotions (pathway.Gate). Its Run executes waiting runs, on any number of nodes. If a node dies, another one
// resumes its runs from their journals, without paying a model twice.
//
// The sub-packages, of which the later ones use the earlier ones:
//   - assert decides by rules whether a conversation went as expected; judge asks a language model.
//   - scenario defines the tests; templates has some to start from; suite reads and writes them as files.
//   - caller simulates callers, engine holds and evaluates one conversation, and runner runs pathways for it.
//   - stats evaluates many runs; analytics describes the runs of a pathway; analysis determines why a run failed.
//   - tornado searches for versions that pass.
//   - run executes scenarios, and group executes many of them together.
//   - report writes results for people and pipelines.
//   - agenttesttest has the conformance suites.
package agenttest
