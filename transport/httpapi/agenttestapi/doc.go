// Package agenttestapi serves the tests of agents: scenarios, templates, runs with the analysis of their failures, batches, simulation
// sets, analytics and tornado sessions.
package agenttestapi
