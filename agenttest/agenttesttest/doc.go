// Package agenttesttest helps to test agent testing. RunRunner is the conformance suite of engine.PathwayRunner, RunJournal that of
// engine.Journal, RunStore that of agenttest.Store, RunSessionStore that of tornado.Store, RunJudge that of assert.Judge. Runner is
// a runner whose agent a test scripts, and Versions holds versions of pathways in memory. MeasureJudge measures the agreement of a
// judge with people.
package agenttesttest
