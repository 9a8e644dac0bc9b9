// Package runner holds the conversations of test runs with pathways and personas. It executes pathways with pathway.Interpreter.Step, like
// calls and chats, and calls only the model of the run.
//
// No action of a pathway leaves the process: a Sink records its requests to other systems, and answers them with the scenario's mocks. The
// agent's digits, transfers and hang-ups become notes of the turn.
package runner
