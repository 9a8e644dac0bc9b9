// Package agenttesttest helps to test agent testing. RunRunner is the conformance suite of engine.PathwayRunner, RunJournal
// that of engine.Journal, RunStore that of agenttest.Store. Runner is a runner whose agent a test scripts, and Versions has versions of pathways in memory.
package agenttesttest
