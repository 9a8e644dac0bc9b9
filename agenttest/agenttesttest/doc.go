// Package agenttesttest contains conformance suites and doubles for agent testing. RunRunner is the suite of engine.PathwayRunner,
// RunJournal of engine.Journal, RunStore of agenttest.Store, RunSessionStore of tornado.Store, and RunJudge of assert.Judge. Runner is a
// runner whose agent a test scripts, and Versions holds versions of pathways in memory. MeasureJudge measures the agreement of a judge with
// people.
package agenttesttest
