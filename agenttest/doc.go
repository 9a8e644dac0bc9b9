// Package agenttest tests agents: simulated callers hold conversations with them, and assertions judge each conversation.
//
// A Service stores scenarios and runs them: alone (run.Service), in batches, and many times in simulation sets (group.Service). It
// implements pathway.Gate, the gate of promotions. Its Run method executes waiting runs, on any number of nodes. If a node dies, another
// node resumes the runs from their journals, without paying a model twice.
//
// Sub-packages, each of which may use those before it:
//   - assert decides by rules whether a conversation went as expected; judge asks a language model.
//   - scenario defines the tests; templates contains ready-made scenarios; suite reads and writes scenarios as files.
//   - caller simulates callers, engine holds and evaluates one conversation, and runner runs pathways for the engine.
//   - stats evaluates many runs; analytics describes the runs of a pathway; analysis determines why a run failed.
//   - tornado searches for versions that pass.
//   - run executes scenarios, and group executes many of them together.
//   - report writes results for people and pipelines.
//   - agenttesttest contains the conformance suites.
package agenttest
