// Package runner holds the conversations of test runs with pathways. It walks them with pathway.Interpreter.Step, like calls and
// chats, and asks only the model of the run.
//
// No action of a pathway leaves the machine: a Sink answers its requests to other systems, from the scenario's mocks, and records
// them. The agent's digits, transfers and hang-ups become notes of the turn.
package runner
