// Package agenttesttest helps to test agent testing. RunRunner is the conformance suite of engine.PathwayRunner, RunJournal
// that of engine.Journal, RunStore that of agenttest.Store, RunSessionStore that of tornado.Store, RunJudge that of
// assert.Judge. Runner is a runner whose agent a test scripts, and Versions has versions of pathways in memory. MeasureJudge
// tells how far a judge agrees with people.
package agenttesttest
