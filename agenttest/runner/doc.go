// Package runner holds the conversations of test runs with pathways. It walks them with pathway.Interpreter.Step, as calls and
// chats do, and asks only the model of the run.
//
// Nothing that a pathway does leaves the machine: a Sink answers its requests to other systems, from the scenario's mocks, and
// records them. Keys that the agent presses, transfers and hang-ups are notes of the turn.
package runner
